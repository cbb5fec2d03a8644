import { isRecord } from '../../domain/content/parse-json.ts';
import { presentContentType } from '../../domain/content/present-content-type.ts';
import { sameJson } from '../../domain/content/same-json.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode } from '../../domain/errors.ts';
import type { GlobalPosition } from '../../domain/event.ts';
import type { ContentTypeDependencies } from './change-content-type.ts';
import { planContentType } from './plan-content-type.ts';
import { saveContentType } from './save-content-type.ts';

const TRIES = 30;
const PAUSE_MS = 500;

/**
 * Creates or updates the content types that the settings file declares (spec 2, bundles: `schemas`); one that is as declared is left alone, and so is
 * one that is not declared. Another replica at the same work is waited for.
 * @returns names of those that were saved
 * @throws the refusal of the first that can't be applied
 */
export async function applyDeclaredTypes(
  definitions: readonly unknown[],
  context: CommandContext,
  dependencies: ContentTypeDependencies,
  pause: (ms: number) => Promise<void>,
): Promise<readonly string[]> {
  const saved: string[] = [];
  for (const input of inOrder(definitions)) {
    const name = nameOf(input);
    for (let attempt = 1; ; attempt += 1) {
      try {
        if (await isAsDeclared(name, input, context, dependencies)) break;
        const { position } = await saveContentType({ verb: 'post', input }, context, dependencies);
        await caughtUp(position, dependencies);
        saved.push(name);
        break;
      } catch (error) {
        if (attempt === TRIES || !(hasCode(error, 'ddl_in_progress') || hasCode(error, 'not_caught_up'))) throw error;
        await pause(PAUSE_MS);
      }
    }
  }
  return saved;
}

async function isAsDeclared(name: string, input: unknown, context: CommandContext, { workbench }: ContentTypeDependencies): Promise<boolean> {
  const stored = (await workbench.ofTenant(context.tenant)).find((type) => type.name === name);
  if (!stored) return false;
  try {
    const { definition } = await planContentType(name, input, context, workbench);
    return sameJson(presentContentType(definition), presentContentType(stored.definition));
  } catch {
    // Saving says what is wrong.
    return false;
  }
}

async function caughtUp(position: GlobalPosition, { waitFor }: ContentTypeDependencies): Promise<void> {
  while (!(await waitFor(['content'], position, 5000))) continue;
}

/** Targets of relations first; those that name each other stay in their order. */
function inOrder(definitions: readonly unknown[]): readonly unknown[] {
  const waiting = [...definitions];
  const ordered: unknown[] = [];
  while (waiting.length > 0) {
    const open: ReadonlySet<unknown> = new Set(waiting.map(nameOf));
    const at = waiting.findIndex((definition) => targetsOf(definition).every((target) => target === nameOf(definition) || !open.has(target)));
    ordered.push(...waiting.splice(Math.max(at, 0), 1));
  }
  return ordered;
}

function nameOf(definition: unknown): string {
  return isRecord(definition) && typeof definition['name'] === 'string' ? definition['name'] : '';
}

function targetsOf(definition: unknown): readonly unknown[] {
  const fields = isRecord(definition) && Array.isArray(definition['fields']) ? (definition['fields'] as readonly unknown[]) : [];
  return fields.filter(isRecord).flatMap((field) => ('relation_to' in field ? [field['relation_to']] : []));
}
