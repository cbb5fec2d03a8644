import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import fc from 'fast-check';
import { compileRoute } from '../../../api/http/compile-route.ts';
import { parseQuery } from '../../../api/http/query-string.ts';
import { buildRouteTable } from '../../../api/http/route-table.ts';
import { type Route, route } from '../../../api/http/route.ts';

describe('the route table', () => {
  const table = buildRouteTable(
    ['/a', '/a/cursor', '/a/{x}', '/a/{x}/b', '/a/{x}/b/{y}/diff/{z}', '/a/fixed/c'].map((path) => ({
      method: 'GET',
      path,
      target: path,
    })),
  );
  const find = (path: string) => table.find(path)?.methods.get('GET');

  it('prefers a literal segment, and falls back to a parameter where it does not match', () => {
    expect(find('/a/cursor')).to.equal('/a/cursor');
    expect(find('/a/other')).to.equal('/a/{x}');
    expect(find('/a/fixed/b')).to.equal('/a/{x}/b');
    expect(find('/a/fixed/c')).to.equal('/a/fixed/c');
  });
  it('returns the values of parameters in order', () => {
    expect(table.find('/a/1/b/2/diff/3')?.values).to.deep.equal(['1', '2', '3']);
    expect(table.find('/a/fixed/b')?.values).to.deep.equal(['fixed']);
  });
  it('does not match a trailing slash, an empty segment, or a shorter or longer path', () => {
    for (const path of [
      '',
      '/',
      '/a/',
      '/a//b',
      '/a/1/b/',
      '/a/1/c',
      'a',
      '/A',
      '/a/1/b/2',
      '*',
      '/constructor',
      '/__proto__',
    ])
      expect(find(path), path).to.equal(undefined);
  });
  it('refuses two routes with the same method and path', () => {
    const twice = [
      { method: 'GET', path: '/x/{a}', target: 1 },
      { method: 'GET', path: '/x/{b}', target: 2 },
    ];
    expect(() => buildRouteTable(twice)).to.throw('two routes');
  });
  it('never throws for any path', () => {
    fc.assert(fc.property(fc.string(), (path) => void table.find(`/${path}`)));
  });
});

describe('a route declaration', () => {
  const spec = {
    api: 'admin',
    method: 'POST',
    path: '/x/{id}',
    operation: 'x',
    summary: '',
    tag: 'x',
    access: { kind: 'public' },
    responses: {},
    handler: () => Promise.resolve({ status: 204 }),
  } as const;
  const compile = (declared: Route) => () => compileRoute(declared);
  it('is refused when it contradicts itself', () => {
    expect(compile(route({ ...spec, params: Type.Object({ other: Type.String() }) }))).to.throw('x: parameters other');
    expect(compile(route({ ...spec, body: Type.Object({}), rawBody: ['text/csv'] }))).to.throw(
      'both a JSON body and a raw body',
    );
    expect(compile(route({ ...spec, body: Type.Unsafe({ type: 'object', unknownKeyword: 1 }) }))).to.throw(
      'unknownKeyword',
    );
  });
});

describe('a query string', () => {
  it('parses to an object without a prototype or answers 400, for any text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webQueryParameters(),
          fc.string(),
          fc
            .array(fc.constantFrom('a', 'b', '_', '[', ']', '=', '&', '%', '%5B', '.', '__proto__', 'constructor'), {
              maxLength: 40,
            })
            .map((parts) => parts.join('')),
        ),
        (text) => {
          try {
            expect(Object.getPrototypeOf(parseQuery(text))).to.equal(null);
          } catch (error) {
            expect(error).to.include({ code: 'invalid_query_parameter', status: 400 });
          }
        },
      ),
      { numRuns: 400 },
    );
  });
});
