import type { ContentType } from '../../domain/content/content-type.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import { entryDecider } from '../../domain/content/entry.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { ownValue } from '../../domain/own-value.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { ClaimRequest } from '../ports/claims.ts';
import type { Referrer } from '../ports/entry-rows.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { type ClaimSession, withClaims } from '../with-claims.ts';
import { entryCommandBase } from './entry-command-base.ts';
import { foldEntry } from './fold-entry.ts';
import { idsIn } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { type ClaimChanges, claimChanges, heldClaims, takeUniqueValues } from './unique-values.ts';

/** Maximum size, in characters, of the events that one append writes together with a deletion. */
const MAX_CHARACTERS = 4_000_000;
/** Decisions on one referring entry before the deletion gives up under contention. */
const MAX_DECISIONS = 20;

/** The removal of a reference from one entry. */
type Removal = {
  readonly write: StreamWrite;
  readonly type: ContentType;
  /** The entry after the removal. */
  readonly after: EntryState;
  readonly claims: ClaimChanges;
};

export type ReleaseReferencesInput = {
  /** Content type of the entry that is deleted. */
  readonly type: ContentType;
  /** Id of the entry that is deleted. */
  readonly id: string;
  /** Names the run of the deletion for its claims. */
  readonly command: string;
  readonly session: Pick<ClaimSession, 'take' | 'guardsOf' | 'abandon'>;
};

/** The removal of the references to one entry, as part of its deletion. */
export type ReferenceRelease = {
  /**
   * Writes for the append of the deletion. When they are too large for one append, or the store cannot append to
   * several streams atomically, they are appended before this resolves. A failed deletion may then have removed
   * references to an entry that stays, but no entry keeps a reference to a deleted one.
   * @throws `entry_referenced` when an entry requires the reference
   */
  readonly alongside: (deletion: readonly NewEvent[]) => Promise<readonly StreamWrite[]>;
  /** The unique values that a referring entry holds after the append. */
  readonly heldAfter: (stream: string) => readonly ClaimRequest[] | undefined;
};

/**
 * Removes the references to an entry that is deleted: an optional relation becomes null or loses the id, by an event of
 * the entry that holds it. The events carry the deletion's correlation id and name the deletion as their cause.
 */
export function releaseReferences(
  { type: target, id, command, session }: ReleaseReferencesInput,
  context: CommandContext,
  dependencies: EntryDependencies,
): ReferenceRelease {
  const { eventStore, entryRows } = dependencies;
  /** Removals that are written in the append of the deletion. */
  let joined: readonly Removal[] = [];
  let isFirst = true;

  function plan({ type, entry }: Referrer, deletion: NewEvent): Removal | undefined {
    const data: Record<string, Json> = {};
    for (const { key, definition } of storedFields(type.definition)) {
      const value = ownValue(entry.fields, key) ?? null;
      if (definition.relation_to !== target.name || !idsIn(value).includes(id)) continue;
      const rest = Array.isArray(value) ? value.filter((other) => other !== id) : null;
      if (definition.required === true && (rest === null || rest.length === 0))
        throw refusal('entry_referenced', { message: `entry is referenced by ${type.name}.${definition.name}` });
      data[key] = rest;
    }
    if (entry.deleted || Object.keys(data).length === 0) return undefined;
    const decided = entryDecider.decide(entry, {
      ...entryCommandBase({ type, id: entry.id }, context),
      kind: 'change',
      data,
    });
    const events = decided.map((event) =>
      toNewEvent(event, { ...context, causationId: deletion.id, now: () => new Date(event.at) }),
    );
    return {
      write: { stream: streamOf({ type, entry }), events, expected: entry.version - 1 },
      type,
      after: decided.reduce(entryDecider.evolve, entry) ?? entry,
      claims: claimChanges({ type, events: decided, held: entry }),
    };
  }

  /** Plans on the read model's row where possible. The row may be stale, so a refusal is decided on the stream. */
  async function planOn(
    referrer: Referrer,
    { isFresh }: { readonly isFresh: boolean },
    deletion: NewEvent,
  ): Promise<Removal | undefined> {
    try {
      if (!isFresh) return plan(referrer, deletion);
    } catch (error) {
      if (!hasCode(error, 'entry_referenced')) throw error;
    }
    return plan(await refresh(referrer), deletion);
  }

  /** The entry with the events that the read model has not applied yet. */
  async function refresh({ type, entry }: Referrer): Promise<Referrer> {
    const from = { state: entry, revision: entry.version - 1 };
    const { state } = await foldEntry({ stream: streamOf({ type, entry }), type, from }, { eventStore });
    return { type, entry: state ?? entry };
  }

  /** Appends a removal on its own, before the deletion. */
  async function appendAhead(referrer: Referrer, deletion: NewEvent): Promise<void> {
    for (let decisions = 1; ; decisions += 1) {
      const removal = await planOn(referrer, { isFresh: decisions > 1 }, deletion);
      if (!removal) return;
      const { stream, events, expected } = removal.write;
      try {
        await withClaims(
          {
            command,
            async work(own) {
              await takeUniqueValues({ owner: stream, ...removal.claims }, own);
              const guards = own.guardsOf(stream);
              await appendOnce(() => eventStore.append(stream, events, { expected, guards }));
            },
            heldAfter: () => heldClaims(removal.type, removal.after),
          },
          dependencies,
        );
        return;
      } catch (error) {
        if (!hasCode(error, 'conflict')) throw error;
        if (decisions === MAX_DECISIONS) throw refusal('store_unavailable', { cause: error });
      }
    }
  }

  return {
    heldAfter(stream) {
      const removal = joined.find(({ write }) => write.stream === stream);
      return removal && heldClaims(removal.type, removal.after);
    },
    async alongside([deletion]) {
      if (!deletion) return [];
      // After a conflict this runs again: the previous decision appended nothing, so its claims are abandoned.
      joined = [];
      await session.abandon();
      for await (const chunk of entryRows.referrers(target, id, { required: true }))
        for (const referrer of chunk) await planOn(referrer, { isFresh: true }, deletion);
      const isAtomic = eventStore.capabilities.atomicMultiStream && eventStore.appendMany !== undefined;
      let waiting: readonly Referrer[] = [];
      for await (const chunk of entryRows.referrers(target, id)) {
        for (const referrer of waiting) await appendAhead(referrer, deletion);
        waiting = chunk;
      }
      const removals: Removal[] = [];
      for (const referrer of isAtomic ? waiting : []) {
        const removal = await planOn(referrer, { isFresh: !isFirst }, deletion);
        if (removal) removals.push(removal);
      }
      isFirst = false;
      if (!isAtomic || JSON.stringify(removals.map(({ write }) => write.events)).length > MAX_CHARACTERS) {
        for (const referrer of waiting) await appendAhead(referrer, deletion);
        return [];
      }
      joined = removals;
      for (const { write, claims } of removals) await takeUniqueValues({ owner: write.stream, ...claims }, session);
      return removals.map(({ write }) => ({ ...write, guards: session.guardsOf(write.stream) }));
    },
  };
}

function streamOf({ type, entry }: Referrer): string {
  return streamName({ category: 'entry', tenant: type.tenant, id: entry.id });
}
