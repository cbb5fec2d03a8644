import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { useDirectory } from '../../support/directory.ts';
import { EVERY_FIELD, TAG, WHOLE_WITH_PARTS } from '../../support/every-field.ts';
import { lintOpenApi } from '../../support/lint-openapi.ts';
import { runCommand } from '../../support/process.ts';
import { testEnvironment, useService } from '../../support/service.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const run = promisify(execFile);

/** A program that uses the types with the client. The compiler must reject the lines after `@ts-expect-error`. */
const PROGRAM = `import { createClient } from 'palimpsest/client';
import type { Entry, WrittenEntry } from 'palimpsest/client';
import type { Part, Schemas, Tag, Whole, WholeInput } from './types.ts';

const client = createClient<Schemas>({ url: 'http://localhost', apiKey: 'svc_x' });
const whole = client.content('whole');
export async function use(): Promise<void> {
  const [first] = await whole.list({ fields: ['title', 'kind'], filters: { a_integer: { $in: [1, 2] } } });
  if (!first) return;
  const title: string = first.data.title;
  const kind: 'a' | 'b' = first.data.kind;
  const perhaps: string | null = first.data.a_text;
  const count: 1 | 2 | 3 | null = first.data.a_integer;
  const tag: Entry<Tag> | null | undefined = first.data.first;
  const parts: readonly Entry<Part>[] | undefined = first.data.parts;
  const input: WholeInput = { title, first_id: first.data.first_id, a_decimal: 1.5, kind };
  const made: WrittenEntry<Whole> = await whole.create(input);
  const saved: string | undefined = made.data?.title;
  await whole.update(made.id, { a_text: saved ?? perhaps });
  await client.content<{ label: string }>('tag').get(tag?.id ?? parts?.[0]?.id ?? String(count));
  // @ts-expect-error a required field is missing
  await whole.create({ title });
  // @ts-expect-error not a value of the enum
  await whole.update(made.id, { kind: 'c' });
  // @ts-expect-error no such field
  await whole.list({ fields: ['nothing'] });
}
`;

describe('palimpsest openapi and palimpsest types', () => {
  const service = useService();
  const directory = useDirectory();
  let environment: Readonly<Record<string, string>> = {};
  const palimpsest = (...args: readonly string[]) => runCommand(args, environment);

  before(async function () {
    this.timeout(60_000);
    environment = {
      ...testEnvironment(service.database.url(), directory()),
      JWT_KEY_PATH: join(directory(), 'never-created.json'),
    };
    for (const type of [TAG, ...EVERY_FIELD])
      expect((await service.owner('POST', '/api/admin/schemas', type)).status).to.equal(200);
    expect((await service.owner('PUT', '/api/admin/schemas/whole', WHOLE_WITH_PARTS)).status).to.equal(200);
  });

  it('types writes types that compile and that type the client', async function () {
    this.timeout(120_000);
    const out = join(directory(), 'app', 'types.ts');
    const { code, output } = await palimpsest('types', '--out', out);
    expect(code, output).to.equal(0);
    const app = join(directory(), 'app');
    await mkdir(join(app, 'node_modules', 'palimpsest'), { recursive: true });
    await run(process.execPath, ['ops/build/build.mjs', join(app, 'node_modules', 'palimpsest', 'dist')], {
      cwd: root,
    });
    await symlink(join(root, 'package.json'), join(app, 'node_modules', 'palimpsest', 'package.json'));
    await writeFile(join(app, 'program.ts'), PROGRAM);
    for (const resolution of [
      ['--module', 'esnext', '--moduleResolution', 'bundler'],
      ['--module', 'nodenext'],
    ]) {
      const compiler = [
        join(root, 'node_modules/typescript/bin/tsc'),
        '--noEmit',
        '--strict',
        '--noUncheckedIndexedAccess',
        '--exactOptionalPropertyTypes',
        '--allowImportingTsExtensions',
        '--target',
        'es2022',
        '--lib',
        'es2022,dom,dom.iterable',
        ...resolution,
        'program.ts',
      ];
      const compiled = await run(process.execPath, compiler, { cwd: app }).catch(
        (error: unknown) => error as { stdout: string },
      );
      expect(compiled.stdout).to.equal('');
    }
    const types = await readFile(out, 'utf8');
    expect(types)
      .to.contain('readonly tags: readonly string[] | readonly Entry<Tag>[];')
      .and.to.contain('readonly whole: { readonly data: Whole; readonly input: WholeInput };');
  });

  it('openapi writes each document, valid, without a session', async function () {
    this.timeout(120_000);
    const document = async (name: string) => {
      const out = join(directory(), `${name}.json`);
      const { code, output } = await palimpsest('openapi', name, '--out', out);
      expect(code, output).to.equal(0);
      const read = JSON.parse(await readFile(out, 'utf8')) as { paths: Record<string, unknown> };
      return read;
    };
    const known = async (path: string) => (await service.owner('GET', path)).json<{ paths: object }>();
    const shown = await document('public');
    expect(shown).to.deep.equal(await known('/api/admin/openapi/public.json'));
    expect(await lintOpenApi(shown)).to.deep.equal([]);
    expect(await document('admin')).to.deep.equal(await known('/api/admin/openapi/admin.json'));
    expect(await document('all')).to.deep.equal(await known('/api/admin/openapi.json'));
  });

  it('report an unknown tenant with exit code 1 and a wrong document name with exit code 2', async function () {
    this.timeout(60_000);
    expect(await palimpsest('types', '--tenant', 'nobody'))
      .to.deep.include({ code: 1 })
      .and.to.have.property('output')
      .that.contains('there is no tenant nobody');
    expect(await palimpsest('openapi', 'nothing'))
      .to.deep.include({ code: 2 })
      .and.to.have.property('output')
      .that.contains('usage: palimpsest openapi');
  });
});
