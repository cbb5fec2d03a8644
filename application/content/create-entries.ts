import { createEntry, entryDecider } from '../../domain/content/entry.ts';
import type { EntryFact } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, isAppError, refusal } from '../../domain/errors.ts';
import type { FieldError } from '../../domain/errors.ts';
import type { GlobalPosition, NewEvent } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { EventStore, StreamWrite } from '../ports/event-store.ts';
import { findMissingTargets } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { abandonClaims, claimChanges, heldFields, HOLDS_NOTHING, settleClaims } from './unique-values.ts';
import type { UniqueClaim } from './unique-values.ts';

/** One refusal of a bulk request (spec 4 A, bulk). */
export type BulkProblem = FieldError & { readonly index: number };

type Planned = { readonly index: number; readonly stream: string; readonly entry: EntryState; readonly fact: EntryFact; readonly event: NewEvent; readonly claims: readonly UniqueClaim[] };

/**
 * Creates entries, all or none: all are checked first, 422 wins over 409 (spec 4 A, bulk). One atomic append where the store has one, else one
 * append after the other, none of which can be refused any more.
 * @throws `validation_failed` with `errors` in the body, also for a held unique value (then with status 409)
 */
export async function createEntries(
  { type, items }: { readonly type: ContentType; readonly items: readonly JsonObject[] },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<{ readonly entries: readonly EntryState[]; readonly position: GlobalPosition | undefined }> {
  const { planned, problems } = plan(type, items, context);
  const missing = await findMissingTargets(type, planned.map(({ entry }) => entry.fields), dependencies);
  const refused = [...problems, ...planned.flatMap(({ index }, at) => (missing[at] ?? []).map((field) => ({ index, ...field })))];
  if (refused.length > 0) throw refuseAll(refused, 'validation_failed');

  const command = context.newId();
  const claimed: Planned[] = [];
  let partly = false;
  try {
    const held = [...twice(planned), ...(await claimEach(planned, { claimed, command }, dependencies))];
    if (held.length > 0) throw refuseAll(held, 'unique_value_held');
    partly = !dependencies.eventStore.capabilities.atomicMultiStream;
    const position = await appendAll(dependencies.eventStore, planned);
    for (const { stream, claims } of claimed) await settleClaims(dependencies.claims, stream, { touched: claims, held: claims }, command);
    return { entries: planned.map(({ entry }) => entry), position };
  } catch (error) {
    // Where some of the streams may be written, the reaper asks each of them.
    if (!partly) for (const { stream, claims } of claimed) await abandonClaims(dependencies.claims, stream, claims, { error, command });
    throw error;
  }
}

function plan(type: ContentType, items: readonly JsonObject[], context: CommandContext): { readonly planned: readonly Planned[]; readonly problems: readonly BulkProblem[] } {
  const planned: Planned[] = [];
  const problems: BulkProblem[] = [];
  const moment = context.now();
  const frozen = { ...context, now: () => moment };
  items.forEach((data, index) => {
    const id = context.newId();
    const command = { entryId: id, typeId: type.id, typeRevision: type.revision, definition: type.definition, actor: context.actor, at: moment.toISOString() };
    try {
      const facts = createEntry(undefined, { ...command, data });
      for (const fact of facts) {
        const entry = entryDecider.evolve(undefined, fact);
        if (!entry) continue;
        const stream = streamName({ category: 'entry', tenant: type.tenant, id });
        planned.push({ index, stream, entry, fact, event: toNewEvent(fact, frozen), claims: claimChanges(type, facts, HOLDS_NOTHING).claimed });
      }
    } catch (error) {
      if (!isAppError(error) || !hasCode(error, 'validation_failed')) throw error;
      problems.push(...(error.fields ?? []).map((field) => ({ index, ...field })));
    }
  });
  return { planned, problems };
}

/** Values that two entries of one request want. */
function twice(planned: readonly Planned[]): readonly BulkProblem[] {
  const seen = new Set<string>();
  return planned.flatMap(({ index, claims }) =>
    claims.flatMap(({ scope, value, field }) => {
      const key = JSON.stringify([scope, value]);
      if (seen.has(key)) return [{ index, field, message: 'unique value already held' }];
      seen.add(key);
      return [];
    }),
  );
}

async function claimEach(planned: readonly Planned[], { claimed, command }: { readonly claimed: Planned[]; readonly command: string }, { claims }: EntryDependencies): Promise<readonly BulkProblem[]> {
  const problems: BulkProblem[] = [];
  const own = new Set<string>();
  for (const item of planned) {
    // A value that an earlier entry of this request claims is reported once, as given twice.
    const wanted = item.claims.filter(({ scope, value }) => !own.has(JSON.stringify([scope, value])));
    if (wanted.length === 0) continue;
    for (const { scope, value } of wanted) own.add(JSON.stringify([scope, value]));
    const held = await claims.claim(item.stream, wanted.map(({ tenant, scope, value }) => ({ tenant, scope, value })), [], command);
    if (held.length === 0) claimed.push(item);
    problems.push(...heldFields(wanted, held).map((field) => ({ index: item.index, ...field })));
  }
  return problems;
}

/** Each append is repeated under the same ids until its outcome is known. @throws `outcome_unknown` where some entries may be written and others not */
async function appendAll(eventStore: EventStore, planned: readonly Planned[]): Promise<GlobalPosition | undefined> {
  const writes: readonly StreamWrite[] = planned.map(({ stream, event }) => ({ stream, events: [event], expected: 'no_stream' }));
  const appendMany = eventStore.appendMany?.bind(eventStore);
  if (eventStore.capabilities.atomicMultiStream && appendMany) return (await appendOnce(() => appendMany(writes))).at(-1)?.position;
  let position: GlobalPosition | undefined;
  for (const { stream, events, expected } of writes) {
    try {
      position = (await appendOnce(() => eventStore.append(stream, events, { expected }))).position;
    } catch (error) {
      // What was written stays written, so the answer can't be that nothing happened.
      if (position !== undefined) throw refusal('outcome_unknown', { cause: error });
      throw error;
    }
  }
  return position;
}

function refuseAll(problems: readonly BulkProblem[], code: 'validation_failed' | 'unique_value_held') {
  const errors = problems.toSorted((a, b) => a.index - b.index).map(({ index, field, message }) => ({ index, field, message }));
  return refusal(code, { message: 'validation failed', body: { errors } });
}
