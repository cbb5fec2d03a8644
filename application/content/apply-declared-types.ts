import { isRecord } from '../../domain/content/parse-json.ts';
import { presentContentType } from '../../domain/content/present-content-type.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import { waitForReadModel } from '../wait-for-read-model.ts';
import type { ContentTypeDependencies } from './content-type-dependencies.ts';
import { planContentType } from './plan-content-type.ts';
import { saveContentType } from './save-content-type.ts';

export type DeclaredTypeDependencies = ContentTypeDependencies & { readonly pause: (ms: number) => Promise<void> };

const MAX_TRIES = 30;
const PAUSE_MS = 500;

/**
 * Creates or updates the content types that the settings file declares. Types that are already as declared, and types
 * that are not declared, are not changed. While another process changes the types, it waits and tries again, up to 30
 * times.
 * @returns names of the types that were saved
 * @throws Error with the name of the first type that cannot be applied; its cause is the refusal
 */
export async function applyDeclaredTypes(
  definitions: readonly unknown[],
  context: CommandContext,
  dependencies: DeclaredTypeDependencies,
): Promise<readonly string[]> {
  const saved: string[] = [];
  const notApplied = (input: unknown, cause: unknown) =>
    new Error(`the ${titleOf(input, definitions)} of the settings file cannot be applied`, { cause });
  for (const input of sortByRelations(definitions)) {
    const name = nameOf(input);
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (await isAsDeclared({ name, input }, context, dependencies)) break;
        const { position } = await saveContentType({ verb: 'post', input }, context, dependencies);
        await waitUntilCaughtUp(position, dependencies);
        saved.push(name);
        break;
      } catch (error) {
        const isTransient = hasCode(error, 'ddl_in_progress') || hasCode(error, 'not_caught_up');
        if (attempt === MAX_TRIES || !isTransient) throw notApplied(input, error);
        await dependencies.pause(PAUSE_MS);
      }
    }
  }
  return saved;
}

async function isAsDeclared(
  { name, input }: { readonly name: string; readonly input: unknown },
  context: CommandContext,
  { schemaSessions, renderer }: ContentTypeDependencies,
): Promise<boolean> {
  const stored = (await schemaSessions.ofTenant(context.tenant)).find((type) => type.name === name);
  if (!stored) return false;
  try {
    const { definition } = await planContentType({ name, input }, context, { reader: schemaSessions, renderer });
    return sameJson(presentContentType(definition), presentContentType(stored.definition));
  } catch {
    // The save that follows reports the error.
    return false;
  }
}

async function waitUntilCaughtUp(position: GlobalPosition, dependencies: ContentTypeDependencies): Promise<void> {
  while (!(await waitForReadModel({ name: 'content', position }, dependencies))) continue;
}

/** Puts the targets of relations before the types that name them. Types that name each other keep their order. */
function sortByRelations(definitions: readonly unknown[]): readonly unknown[] {
  const waiting = [...definitions];
  const ordered: unknown[] = [];
  while (waiting.length > 0) {
    const open: ReadonlySet<unknown> = new Set(waiting.map(nameOf));
    const at = waiting.findIndex((definition) =>
      targetsOf(definition).every((target) => target === nameOf(definition) || !open.has(target)),
    );
    ordered.push(...waiting.splice(Math.max(at, 0), 1));
  }
  return ordered;
}

function nameOf(definition: unknown): string {
  return isRecord(definition) && typeof definition['name'] === 'string' ? definition['name'] : '';
}

/** A definition in words: its name, or its place in the file when it has no name. */
function titleOf(definition: unknown, definitions: readonly unknown[]): string {
  const name = nameOf(definition);
  return name === ''
    ? `content type at place ${String(definitions.indexOf(definition) + 1)}`
    : `content type "${name}"`;
}

function targetsOf(definition: unknown): readonly unknown[] {
  const fields =
    isRecord(definition) && Array.isArray(definition['fields']) ? (definition['fields'] as readonly unknown[]) : [];
  return fields.filter(isRecord).flatMap((field) => ('relation_to' in field ? [field['relation_to']] : []));
}
