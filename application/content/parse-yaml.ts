import type * as Library from 'yaml';
import { findJsonFlaw } from '../../domain/json-flaw.ts';

type Yaml = typeof Library;

/** A text is not valid YAML. The message may be shown to the author of the text. */
export class InvalidYaml extends Error {}

/** Maximum nesting depth of a document. */
const MAX_DEPTH = 64;
const TOO_DEEP = 'nested too deep';

/**
 * Reads a YAML or JSON text into the equivalent JSON value. For untrusted texts: accepts one document of core types
 * without aliases, custom tags and duplicate keys. The caller must limit the size.
 * @throws InvalidYaml
 */
export async function parseYaml(text: string): Promise<unknown> {
  // Loaded on first use: most processes never need it, and it takes 9 MB of memory.
  const yaml = await import('yaml');
  refuseDeepNesting(text, yaml);
  try {
    // The library's check for duplicate keys takes quadratic time; `refuseDuplicateKeys` replaces it.
    const document = yaml.parseDocument(text, {
      schema: 'core',
      merge: false,
      resolveKnownTags: false,
      uniqueKeys: false,
      logLevel: 'error',
    });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem)
      throw new InvalidYaml(problem.message.startsWith('Maximum call stack') ? TOO_DEEP : firstLine(problem.message));
    yaml.visit(document, {
      Alias: () => {
        throw new InvalidYaml('aliases are not supported');
      },
      Map: (_, map) => {
        refuseDuplicateKeys(map, yaml);
      },
    });
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    refuseFlaws(value);
    return value;
  } catch (error) {
    if (error instanceof InvalidYaml) throw error;
    // Other errors of the parser, such as a stack overflow, are caused by the text too.
    throw new InvalidYaml('the text is not valid YAML', { cause: error });
  }
}

/** Checks the depth before the recursive parser runs. Counts open brackets, and `-` and `?` within one line. */
function refuseDeepNesting(text: string, { Lexer }: Yaml): void {
  let open = 0;
  let inLine = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') open += 1;
    else if (token === ']' || token === '}') open -= 1;
    else if (token === '-' || token === '?') inLine += 1;
    else if (token === ',' || token === '\n' || token === '\r\n') inLine = 0;
    if (open + inLine > MAX_DEPTH) throw new InvalidYaml(TOO_DEEP);
  }
}

function refuseDuplicateKeys(map: Library.YAMLMap, { isScalar }: Yaml): void {
  const earlierKeys = new Set<string>();
  for (const { key } of map.items) {
    if (!isScalar(key)) throw new InvalidYaml('keys must be plain text');
    const name = String(key.value);
    if (earlierKeys.has(name)) throw new InvalidYaml(`the key "${name.slice(0, 80)}" occurs twice`);
    earlierKeys.add(name);
  }
}

/** Refuses infinite numbers, which JSON lacks, and what request bodies may not contain either. */
function refuseFlaws(value: unknown): void {
  const flaw = findJsonFlaw(value);
  if (flaw?.kind === 'structure') throw new InvalidYaml('nested too deep, or a key that is not allowed');
  if (flaw) throw new InvalidYaml('text must be well-formed and without NUL');
  if (holdsInfiniteNumber(value)) throw new InvalidYaml('numbers must be finite');
}

function holdsInfiniteNumber(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInfiniteNumber);
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '').slice(0, 200);
}
