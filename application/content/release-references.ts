import { changeEntry, entryDecider } from '../../domain/content/entry.ts';
import type { ContentType } from '../../domain/content/content-type.ts';
import { storedFields } from '../../domain/content/entry-fields.ts';
import type { EntryState } from '../../domain/content/entry-state.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import type { NewEvent } from '../../domain/event.ts';
import type { Json } from '../../domain/json.ts';
import { streamName } from '../../domain/stream.ts';
import { appendOnce, toNewEvent } from '../handle-command.ts';
import type { Referrer } from '../ports/entry-rows.ts';
import type { StreamWrite } from '../ports/event-store.ts';
import { foldEntry } from './fold-entry.ts';
import { idsIn } from './related-entries.ts';
import type { EntryDependencies } from './run-entry-command.ts';
import { abandonClaims, claimAll, claimChanges, heldClaims, settleClaims } from './unique-values.ts';
import type { ClaimChanges } from './unique-values.ts';

/** Most characters of events that one append takes along with a deletion. */
const MAX_CHARACTERS = 4_000_000;
const MAX_DECISIONS = 20;

/** An entry losing a reference: what is appended to its stream, and what that does to its unique values. */
type Release = { readonly write: StreamWrite; readonly type: ContentType; readonly after: EntryState; readonly claims: ClaimChanges };

/** Takes the references to one entry away in the course of its deletion. */
export type ReferenceRelease = {
  /**
   * Writes that belong into the append of the deletion, all or none. What is too much for one append, and everything where the store has no append to
   * many streams, is appended before this answers: then an entry may lose a reference to one that stays after all, but none keeps a reference to one that goes.
   * @throws `entry_referenced` when an entry requires the reference
   */
  readonly alongside: (deletion: readonly NewEvent[]) => Promise<readonly StreamWrite[]>;
  /** To be called when the deletion has happened, or has not and why. */
  readonly settle: (error?: unknown) => Promise<void>;
};

/**
 * References to an entry that is being deleted: optional ones become null or lose the id, by events of the entries that hold them, under the deletion's correlation id
 * and caused by it (spec 4 A).
 */
export function releaseReferences({ type: target, id }: { readonly type: ContentType; readonly id: string }, context: CommandContext, dependencies: EntryDependencies): ReferenceRelease {
  const { eventStore, rows, claims } = dependencies;
  const command = context.newId();
  let together: readonly Release[] = [];
  let isFirst = true;

  function plan({ type, entry }: Referrer, deletion: NewEvent): Release | undefined {
    const data: Record<string, Json> = {};
    for (const { key, definition } of storedFields(type.definition)) {
      const value = entry.fields[key] ?? null;
      if (definition.relation_to !== target.name || !idsIn(value).includes(id)) continue;
      const rest = Array.isArray(value) ? value.filter((other) => other !== id) : null;
      if (definition.required === true && (rest === null || rest.length === 0)) throw refusal('entry_referenced', { message: `entry is referenced by ${type.name}.${definition.name}` });
      data[key] = rest;
    }
    if (entry.deleted || Object.keys(data).length === 0) return undefined;
    const decided = { entryId: entry.id, typeId: type.id, typeRevision: type.revision, definition: type.definition, actor: context.actor, at: context.now().toISOString() };
    const facts = changeEntry(entry, { ...decided, data });
    const events = facts.map((fact) => toNewEvent(fact, { ...context, causationId: deletion.id, now: () => new Date(fact.at) }));
    const after = facts.reduce(entryDecider.evolve, entry) ?? entry;
    return { write: { stream: streamOf({ type, entry }), events, expected: entry.version - 1 }, type, after, claims: claimChanges(type, facts, entry) };
  }

  /** The row decides where it can; a refusal never rests on it. */
  async function planOn(referrer: Referrer, { isFresh }: { readonly isFresh: boolean }, deletion: NewEvent): Promise<Release | undefined> {
    try {
      if (!isFresh) return plan(referrer, deletion);
    } catch (error) {
      if (!hasCode(error, 'entry_referenced')) throw error;
    }
    return plan(await current(referrer), deletion);
  }

  /** The entry as its stream has it now; the read model may be behind. */
  async function current({ type, entry }: Referrer): Promise<Referrer> {
    const { state } = await foldEntry(eventStore, streamOf({ type, entry }), { from: { state: entry, revision: entry.version - 1 }, type });
    return { type, entry: state ?? entry };
  }

  async function appendAhead(referrer: Referrer, deletion: NewEvent): Promise<void> {
    for (let decisions = 1; ; decisions += 1) {
      const release = await planOn(referrer, { isFresh: decisions > 1 }, deletion);
      if (!release) return;
      const { stream, events, expected } = release.write;
      try {
        await claimAll(claims, stream, release.claims, command);
        await appendOnce(() => eventStore.append(stream, events, { expected }));
        await settleOne(release);
        return;
      } catch (error) {
        await settleOne(release, error);
        if (!hasCode(error, 'conflict')) throw error;
        if (decisions === MAX_DECISIONS) throw refusal('store_unavailable', { cause: error });
      }
    }
  }

  async function settleOne({ write, type, after, claims: { claimed, released } }: Release, error?: unknown): Promise<void> {
    const touched = [...claimed, ...released];
    if (error === undefined) await settleClaims(claims, write.stream, { touched, held: heldClaims(type, after) }, command);
    else await abandonClaims(claims, write.stream, touched, { error, command });
  }

  async function settle(error?: unknown): Promise<void> {
    const done = together;
    together = [];
    for (const release of done) await settleOne(release, error);
  }

  return {
    settle,
    async alongside([deletion]) {
      if (!deletion) return [];
      // Decided again: nothing of the decision before has been appended.
      await settle(refusal('conflict'));
      for await (const chunk of rows.referrers(target, id, { required: true })) for (const referrer of chunk) await planOn(referrer, { isFresh: true }, deletion);
      const atOnce = eventStore.capabilities.atomicMultiStream && eventStore.appendMany !== undefined;
      let waiting: readonly Referrer[] = [];
      for await (const chunk of rows.referrers(target, id)) {
        for (const referrer of waiting) await appendAhead(referrer, deletion);
        waiting = chunk;
      }
      const releases: Release[] = [];
      for (const referrer of atOnce ? waiting : []) {
        const release = await planOn(referrer, { isFresh: !isFirst }, deletion);
        if (release) releases.push(release);
      }
      isFirst = false;
      if (!atOnce || JSON.stringify(releases.map(({ write }) => write.events)).length > MAX_CHARACTERS) {
        for (const referrer of waiting) await appendAhead(referrer, deletion);
        return [];
      }
      together = releases;
      for (const { write, claims: changes } of releases) await claimAll(claims, write.stream, changes, command);
      return releases.map(({ write }) => write);
    },
  };
}

function streamOf({ type, entry }: Referrer): string {
  return streamName({ category: 'entry', tenant: type.tenant, id: entry.id });
}
