import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ContentType } from '../../domain/content/content-type.ts';
import type { EntryEvent } from '../../domain/content/entry-events.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import { hasPatterns } from '../../domain/content/field-pattern.ts';
import type { CommandContext } from '../../domain/context.ts';
import { type FieldError, hasCode, isAppError, refusal } from '../../domain/errors.ts';
import { type GlobalPosition, type NewEvent, laterOf } from '../../domain/event.ts';
import type { JsonObject } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import { findEarlierWrite } from '../find-earlier-write.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { type ClaimSession, withClaims } from '../with-claims.ts';
import { compensateEntry } from './compensate-entry.ts';
import { entryCommandBase } from './entry-command-base.ts';
import { findBrokenCondition } from './find-broken-condition.ts';
import { findMissingTargets, targetGuards, withoutType } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { NO_UNIQUE_VALUES, type UniqueClaim, claimChanges, claimKey, heldFields } from './unique-values.ts';

/** Maximum number of appends while guards fail for reasons that are gone when they are looked up. */
const MAX_ATTEMPTS = 20;

/** A refused field of a bulk request; `index` is the item's place in the request. */
export type BulkProblem = FieldError & { readonly index: number };

type PlannedEntry = {
  readonly index: number;
  readonly stream: string;
  readonly entry: EntryState;
  readonly created: EntryEvent;
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
  const { planned: all, problems } = await planEntries({ type, items }, context);
  const { eventStore } = dependencies;
  const entries = all.map(({ entry }) => entry);
  const earlier = await findEarlierEntries(all, context, dependencies);
  const planned = all.filter(({ stream }) => !earlier.streams.has(stream));
  if (planned.length === 0 && earlier.position !== undefined) return { entries, position: earlier.position };
  const refused = [...problems, ...(await findMissing({ type, planned }, dependencies))];
  if (refused.length > 0) throw bulkRefusal('validation_failed', refused);

  return withClaims(
    {
      command: context.repeatable?.attempt ?? context.newId(),
      async work(session) {
        const held = [...findDuplicates(planned), ...(await takeEach(planned, session))];
        if (held.length > 0) throw bulkRefusal('unique_value_held', [...held, ...(await heldOfEach(planned, session))]);
        if (!eventStore.capabilities.atomicMultiStream) session.keepClaimsOnFailure();
        for (let attempts = 1; ; attempts += 1) {
          try {
            const position = await appendAll({ type, planned, session }, dependencies);
            await compensateBroken({ type, planned, position }, context, dependencies);
            return { entries, position };
          } catch (error) {
            if (!hasCode(error, 'guard_failed')) throw error;
            const lost = await heldOfEach(planned, session);
            if (lost.length > 0) throw bulkRefusal('unique_value_held', lost);
            const missing = await findMissing({ type, planned, fromStreams: true }, dependencies);
            if (missing.length > 0) throw bulkRefusal('validation_failed', missing);
            // The value was released, or the target was restored, after the refusal.
            if (attempts === MAX_ATTEMPTS) throw refusal('store_unavailable', { cause: error });
          }
        }
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

/** Plans each item. Between items with patterns, which may take long to match, other requests are served. */
async function planEntries(
  { type, items }: { readonly type: ContentType; readonly items: readonly JsonObject[] },
  context: CommandContext,
): Promise<{ readonly planned: readonly PlannedEntry[]; readonly problems: readonly BulkProblem[] }> {
  const planned: PlannedEntry[] = [];
  const problems: BulkProblem[] = [];
  const moment = context.now();
  const pauses = hasPatterns(type.definition);
  for (const [index, data] of items.entries()) {
    if (pauses) await nextTurn();
    const id = context.newId();
    const base = entryCommandBase({ type, id }, { ...context, now: () => moment });
    try {
      const events = entryDecider.decide(undefined, { ...base, kind: 'create', data });
      for (const event of events) {
        const entry = entryDecider.evolve(undefined, event);
        if (!entry) continue;
        planned.push({
          index,
          stream: streamName({ category: 'entry', tenant: type.tenant, id }),
          entry,
          created: event,
          event: toNewEvent(event, { ...context, now: () => moment }),
          claims: claimChanges({ type, events, held: NO_UNIQUE_VALUES }).claimed,
        });
      }
    } catch (error) {
      if (!isAppError(error) || !hasCode(error, 'validation_failed')) throw error;
      problems.push(...(error.fields ?? []).map((field) => ({ index, ...field })));
    }
  }
  return { planned, problems };
}

/** Unique values that two items of the request want. */
function findDuplicates(planned: readonly PlannedEntry[]): readonly BulkProblem[] {
  const keys = new Set<string>();
  return planned.flatMap(({ index, claims }) =>
    claims.flatMap((claim) => {
      if (keys.has(claimKey(claim))) return [{ index, field: claim.field, message: 'unique value already held' }];
      keys.add(claimKey(claim));
      return [];
    }),
  );
}

/** Takes the unique values of each entry with its append. @returns the values that other streams hold */
async function takeEach(
  planned: readonly PlannedEntry[],
  session: Pick<ClaimSession, 'take'>,
): Promise<readonly BulkProblem[]> {
  const problems: BulkProblem[] = [];
  const keys = new Set<string>();
  for (const { index, stream, claims } of planned) {
    // `findDuplicates` reports the values that an earlier item of the request wants too.
    const claimed = claims.filter((claim) => !keys.has(claimKey(claim)));
    for (const claim of claimed) keys.add(claimKey(claim));
    const held = await session.take({ owner: stream, claimed });
    problems.push(...heldFields(claimed, held).map((field) => ({ index, ...field })));
  }
  return problems;
}

/** The unique values that other streams hold, after the guards of the append failed. */
async function heldOfEach(
  planned: readonly PlannedEntry[],
  session: Pick<ClaimSession, 'findHeldValues'>,
): Promise<readonly BulkProblem[]> {
  const problems: BulkProblem[] = [];
  for (const { index, stream, claims } of planned)
    problems.push(...heldFields(claims, await session.findHeldValues(stream)).map((field) => ({ index, ...field })));
  return problems;
}

/** The targets of relations that do not exist. */
async function findMissing(
  {
    type,
    planned,
    fromStreams = false,
  }: { readonly type: ContentType; readonly planned: readonly PlannedEntry[]; readonly fromStreams?: boolean },
  dependencies: EntryDependencies,
): Promise<readonly BulkProblem[]> {
  const sets = planned.map(({ entry }) => entry.fields);
  const missing = await findMissingTargets({ type, sets, fromStreams }, dependencies);
  return planned.flatMap(({ index }, at) => (missing[at] ?? []).map((field) => ({ index, ...field })));
}

/** @throws `guard_failed`; `outcome_unknown` when some entries may be written and others not */
async function appendAll(
  {
    type,
    planned,
    session,
  }: {
    readonly type: ContentType;
    readonly planned: readonly PlannedEntry[];
    readonly session: Pick<ClaimSession, 'guardsOf'>;
  },
  { eventStore, types }: Pick<EntryDependencies, 'eventStore' | 'types'>,
): Promise<GlobalPosition | undefined> {
  const writes: readonly StreamWrite[] = await Promise.all(
    planned.map(async ({ stream, event, entry }) => {
      const targets = await targetGuards({ type, sets: [entry.fields] }, { types });
      return {
        stream,
        events: [event],
        expected: 'no_stream',
        // `findMissing` has compared the types.
        guards: { ...session.guardsOf(stream), streams: targets?.map(withoutType) },
      };
    }),
  );
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

/**
 * In a store without guards: takes all entries of the request back when a condition of one did not hold any more.
 * @throws as `createEntries`
 */
async function compensateBroken(
  {
    type,
    planned,
    position,
  }: {
    readonly type: ContentType;
    readonly planned: readonly PlannedEntry[];
    readonly position: GlobalPosition | undefined;
  },
  context: CommandContext,
  dependencies: EntryDependencies,
): Promise<void> {
  if (dependencies.eventStore.capabilities.guards || position === undefined) return;
  const broken: BulkProblem[] = [];
  let code: 'validation_failed' | 'unique_value_held' = 'validation_failed';
  for (const { index, stream, claims, entry, created } of planned) {
    const streams = await targetGuards({ type, sets: [entry.fields] }, dependencies);
    const refused = await findBrokenCondition(
      { type, stream, position, conditions: { claimed: claims, guards: { streams }, events: [created] } },
      dependencies,
    );
    if (!refused) continue;
    if (refused.code === 'unique_value_held') code = 'unique_value_held';
    broken.push(...(refused.fields ?? []).map((field) => ({ index, ...field })));
  }
  if (broken.length === 0) return;
  for (const { entry } of planned)
    await compensateEntry(
      { type, id: entry.id, revision: 0, conditions: { before: undefined, events: [] }, reason: code },
      context,
      dependencies,
    );
  throw bulkRefusal(code, broken);
}

function bulkRefusal(code: 'validation_failed' | 'unique_value_held', problems: readonly BulkProblem[]): Error {
  const errors = problems
    .toSorted((a, b) => a.index - b.index)
    .map(({ index, field, message }) => ({ index, field, message }));
  return refusal(code, { message: 'validation failed', body: { errors } });
}
