import { expect } from 'chai';
import fc from 'fast-check';
import { InvalidYaml, parseYaml } from '../../../application/content/parse-yaml.ts';

describe('reading untrusted YAML', () => {
  async function refusal(text: string): Promise<string> {
    try {
      await parseYaml(text);
    } catch (error) {
      if (error instanceof InvalidYaml) return error.message;
      throw error;
    }
    return 'read';
  }

  it('reads values that JSON can represent', async () => {
    const text =
      'id: faq\nschemas:\n  - name: faq # one\n    fields: [{name: q, required: true}, {"name": "a", default: 1.5}]\n    note: |\n      two\n      lines\nnone: ~\n1: one\n';
    expect(await parseYaml(text)).to.deep.equal({
      id: 'faq',
      schemas: [
        {
          name: 'faq',
          fields: [
            { name: 'q', required: true },
            { name: 'a', default: 1.5 },
          ],
          note: 'two\nlines\n',
        },
      ],
      none: null,
      1: 'one',
    });
  });

  it('reads every JSON text as a JSON parser does', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.json({ maxDepth: 5 }).filter((text) => !text.includes('__proto__') && !text.includes('\\u0000')),
        async (text) => {
          expect(await parseYaml(text)).to.deep.equal(
            JSON.parse(text, (_, value: unknown) => (Object.is(value, -0) ? 0 : value)),
          );
        },
      ),
    );
  });

  const REFUSED: Readonly<Record<string, readonly [string, string]>> = {
    'an alias': ['a: &x [1]\nb: *x', 'aliases are not supported'],
    'a billion laughs': [
      `a: &a [1]\n${['b', 'c', 'd', 'e'].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcd'[at]!}`).join(',')}]`).join('\n')}`,
      'aliases are not supported',
    ],
    'a merge key': ['a: &x {b: 1}\nc:\n  <<: *x', 'aliases are not supported'],
    'a tag of its own': ['a: !js/function "x"', 'Unresolved tag: !js/function at line 1, column 4'],
    'a binary': ['a: !!binary aGVsbG8=', 'Unresolved tag: tag:yaml.org,2002:binary at line 1, column 4'],
    'a key that comes twice': ['a: 1\n"a": 2', 'the key "a" occurs twice'],
    'a key that is no text': ['? [a, b]\n: 1', 'keys must be plain text'],
    'a prototype': ['__proto__: {a: 1}', 'nested too deep, or a key that is not allowed'],
    'two documents': [
      'a: 1\n---\nb: 2',
      'Source contains multiple documents; please use YAML.parseAllDocuments() at line 2, column 1',
    ],
    'a number that is none': ['a: .nan', 'numbers must be finite'],
    'an infinite number': ['- .inf', 'numbers must be finite'],
    'a NUL': ['a: "\\0"', 'text must be well-formed and without NUL'],
    'deep brackets': ['['.repeat(1_000_000), 'nested too deep'],
    'deep brackets with something between': ['[1,{a: '.repeat(100_000), 'nested too deep'],
    'deep lists in one line': ['- '.repeat(500_000), 'nested too deep'],
    'deep lists by indentation': [
      Array.from({ length: 1_000 }, (_, at) => `${' '.repeat(at)}-`).join('\n'),
      'nested too deep',
    ],
    'a broken text': [
      'a: [1',
      'Flow sequence in block collection must be sufficiently indented and end with a ] at line 1, column 6',
    ],
  };
  for (const [what, [text, message]] of Object.entries(REFUSED)) {
    it(`refuses ${what}`, async () => {
      expect(await refusal(text)).to.equal(message);
    });
  }

  it('reads a megabyte of many keys', async () => {
    const text = Array.from({ length: 60_000 }, (_, at) => `key_${at}: ${at}`).join('\n');
    expect(Object.keys((await parseYaml(text)) as object)).to.have.length(60_000);
  });
});
