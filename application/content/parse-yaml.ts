import type * as Library from 'yaml';
import { findJsonFlaw } from '../../domain/json-flaw.ts';

type Yaml = typeof Library;

/** A text that is read as YAML and found wanting; the message is fit for its author. */
export class InvalidYaml extends Error {}

/** Deepest nesting of a document. */
const MAX_DEPTH = 64;
const TOO_DEEP = 'nested too deep';

/**
 * Reads a YAML text (JSON is YAML too) into the value that the same JSON would have. Meant for texts of strangers: one document of
 * core types, without aliases, tags of its own or keys that come twice; its size is the caller's to bound.
 * @throws InvalidYaml
 */
export async function parseYaml(text: string): Promise<unknown> {
  // Loaded when it is first needed: most installs never do, and it takes 9 MB.
  const yaml = await import('yaml');
  refuseDeep(text, yaml);
  try {
    // Its own look for keys that come twice compares each with each.
    const document = yaml.parseDocument(text, { schema: 'core', merge: false, resolveKnownTags: false, uniqueKeys: false, logLevel: 'error' });
    const problem = document.errors[0] ?? document.warnings[0];
    if (problem) throw new InvalidYaml(problem.message.startsWith('Maximum call stack') ? TOO_DEEP : firstLine(problem.message));
    yaml.visit(document, {
      Alias: () => {
        throw new InvalidYaml('aliases are not supported');
      },
      Map: (_, map) => {
        refuseTwice(map, yaml);
      },
    });
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    refuseFlaws(value);
    return value;
  } catch (error) {
    if (error instanceof InvalidYaml) throw error;
    // Whatever else the parser stumbles over, such as its own stack, is the text's fault.
    throw new InvalidYaml('the text can not be read as YAML', { cause: error });
  }
}

/** Before the parser recurses into it: brackets by what is open, `- - -` and `? ? ?` by what stands in one line. */
function refuseDeep(text: string, { Lexer }: Yaml): void {
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

function refuseTwice(map: Library.YAMLMap, { isScalar }: Yaml): void {
  const seen = new Set<string>();
  for (const { key } of map.items) {
    if (!isScalar(key)) throw new InvalidYaml('keys must be plain text');
    const name = String(key.value);
    if (seen.has(name)) throw new InvalidYaml(`the key "${name.slice(0, 80)}" is there twice`);
    seen.add(name);
  }
}

/** JSON has no infinite numbers; the rest is what no body may hold either. */
function refuseFlaws(value: unknown): void {
  const flaw = findJsonFlaw(value);
  if (flaw?.kind === 'structure') throw new InvalidYaml('nested too deep, or a key that is not allowed');
  if (flaw) throw new InvalidYaml('text must be well-formed and without NUL');
  if (holdsUnreal(value)) throw new InvalidYaml('numbers must be finite');
}

function holdsUnreal(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsUnreal);
}

function firstLine(message: string): string {
  return (message.split('\n', 1)[0] ?? '').replace(/:$/, '').slice(0, 200);
}
