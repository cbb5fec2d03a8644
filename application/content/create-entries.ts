import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { type FieldError, hasCode, isAppError, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, type NewEvent, laterOf } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import { findEarlierWrite } from '../earlier-attempt.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { type ClaimSession, withClaims } from '../with-claims.ts';
import { findMissingTargets } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { NO_UNIQUE_VALUES, type UniqueClaim, claimChanges, claimKey, heldFields } from './unique-values.ts';

/** A refused field of a bulk request; `index` is the item's place in the request. */
export type BulkProblem = FieldError & { readonly index: number };

type PlannedEntry = {
  readonly index: number;
  readonly stream: string;
  readonly entry: EntryState;
  readonly event: NewEvent;
  readonly claims: readonly UniqueClaim[];
};

/**
 * Creates all entries or none. All items are validated before unique values are claimed, so invalid items are reported
 * before held values. The events are one atomic append where the store supports it, else one append after the other;
 * by then no item can be refused.
 * @throws `validation_failed` with `errors` in the body; `unique_value_held` with `errors` in the body
 */
export async function createEntries(
  { type, items }: { readonly type: ContentType; readonly items: readonly JsonObject[] },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<{ readonly entries: readonly EntryState[]; readonly position: GlobalPosition | undefined }> {
  const { planned: all, problems } = planEntries({ type, items }, context);
  const { eventStore } = dependencies;
  const entries = all.map(({ entry }) => entry);
  const earlier = await findEarlierEntries(all, context, dependencies);
  const planned = all.filter(({ stream }) => !earlier.streams.has(stream));
  if (planned.length === 0 && earlier.position !== undefined) return { entries, position: earlier.position };
  const missing = await findMissingTargets({ type, sets: planned.map(({ entry }) => entry.fields) }, dependencies);
  const refused = [
    ...problems,
    ...planned.flatMap(({ index }, at) => (missing[at] ?? []).map((field) => ({ index, ...field }))),
  ];
  if (refused.length > 0) throw bulkRefusal('validation_failed', refused);

  return withClaims(
    {
      command: context.repeatable?.attempt ?? context.newId(),
      async work(session) {
        const held = [...findDuplicates(planned), ...(await claimEach(planned, session))];
        if (held.length > 0) throw bulkRefusal('unique_value_held', held);
        if (!eventStore.capabilities.atomicMultiStream) session.keepOnFailure();
        const position = await appendAll(planned, dependencies);
        return { entries, position };
      },
    },
    dependencies,
  );
}

/** Finds the entries that an earlier attempt of the same request created: all or none, if the store is atomic. */
async function findEarlierEntries(
  planned: readonly PlannedEntry[],
  context: CommandContext,
  { eventStore }: Pick<EntryDependencies, 'eventStore'>,
): Promise<{ readonly streams: ReadonlySet<string>; readonly position: GlobalPosition | undefined }> {
  const streams = new Set<string>();
  let position: GlobalPosition | undefined;
  for (const { stream } of context.repeatable?.isRepeat ? planned : []) {
    const found = await findEarlierWrite({ stream }, context, { eventStore });
    // Entries are appended in this order, so none after the first missing one exists.
    if (found === undefined) break;
    streams.add(stream);
    position = position === undefined ? found : laterOf(position, found);
  }
  if (position !== undefined && streams.size === planned.length) context.repeatable?.foundEarlier();
  return { streams, position };
}

function planEntries(
  { type, items }: { readonly type: ContentType; readonly items: readonly JsonObject[] },
  context: CommandContext,
): { readonly planned: readonly PlannedEntry[]; readonly problems: readonly BulkProblem[] } {
  const planned: PlannedEntry[] = [];
  const problems: BulkProblem[] = [];
  const moment = context.now();
  items.forEach((data, index) => {
    const id = context.newId();
    const base = {
      entryId: id,
      typeId: type.id,
      typeRevision: type.revision,
      definition: type.definition,
      actor: context.actor,
      at: moment.toISOString(),
    };
    try {
      const events = entryDecider.decide(undefined, { ...base, kind: 'create', data });
      for (const event of events) {
        const entry = entryDecider.evolve(undefined, event);
        if (!entry) continue;
        planned.push({
          index,
          stream: streamName({ category: 'entry', tenant: type.tenant, id }),
          entry,
          event: toNewEvent(event, { ...context, now: () => moment }),
          claims: claimChanges({ type, events, held: NO_UNIQUE_VALUES }).claimed,
        });
      }
    } catch (error) {
      if (!isAppError(error) || !hasCode(error, 'validation_failed')) throw error;
      problems.push(...(error.fields ?? []).map((field) => ({ index, ...field })));
    }
  });
  return { planned, problems };
}

/** Unique values that two items of the request want. */
function findDuplicates(planned: readonly PlannedEntry[]): readonly BulkProblem[] {
  const seen = new Set<string>();
  return planned.flatMap(({ index, claims }) =>
    claims.flatMap((claim) => {
      if (seen.has(claimKey(claim))) return [{ index, field: claim.field, message: 'unique value already held' }];
      seen.add(claimKey(claim));
      return [];
    }),
  );
}

async function claimEach(
  planned: readonly PlannedEntry[],
  session: Pick<ClaimSession, 'claim'>,
): Promise<readonly BulkProblem[]> {
  const problems: BulkProblem[] = [];
  const seen = new Set<string>();
  for (const { index, stream, claims } of planned) {
    // `findDuplicates` reports the values that an earlier item of the request wants too.
    const claimed = claims.filter((claim) => !seen.has(claimKey(claim)));
    for (const claim of claimed) seen.add(claimKey(claim));
    const held = await session.claim({ owner: stream, claimed });
    problems.push(...heldFields(claimed, held).map((field) => ({ index, ...field })));
  }
  return problems;
}

/** @throws `outcome_unknown` when some entries may be written and others not */
async function appendAll(
  planned: readonly PlannedEntry[],
  { eventStore }: Pick<EntryDependencies, 'eventStore'>,
): Promise<GlobalPosition | undefined> {
  const writes: readonly StreamWrite[] = planned.map(({ stream, event }) => ({
    stream,
    events: [event],
    expected: 'no_stream',
  }));
  const appendMany = eventStore.appendMany?.bind(eventStore);
  if (eventStore.capabilities.atomicMultiStream && appendMany)
    return (await appendOnce(() => appendMany(writes))).at(-1)?.position;
  let position: GlobalPosition | undefined;
  for (const { stream, events, expected } of writes) {
    try {
      position = (await appendOnce(() => eventStore.append(stream, events, { expected }))).position;
    } catch (error) {
      // The entries before this one are written, so the response must not say that nothing happened.
      if (position !== undefined) throw refusal('outcome_unknown', { cause: error });
      throw error;
    }
  }
  return position;
}

function bulkRefusal(code: 'validation_failed' | 'unique_value_held', problems: readonly BulkProblem[]): Error {
  const errors = problems
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, field, message }) => ({ index, field, message }));
  return refusal(code, { message: 'validation failed', body: { errors } });
}
