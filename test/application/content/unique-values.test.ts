import { expect } from 'chai';
import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { Readable } from 'node:stream';
import { v7 } from 'uuid';
import { claimsOfEntry } from '../../../application/content/claims-of-entry.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import { type EntryAt, NO_ENTRY, evolveEntry, foldEntry } from '../../../application/content/fold-entry.ts';
import { type EntryDependencies, runEntryCommand } from '../../../application/content/run-entry-command.ts';
import { undeleteEntry } from '../../../application/content/undelete-entry.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { entryDecider } from '../../../domain/content/entry.ts';
import { hasCode, refusal } from '../../../domain/errors.ts';
import { ORIGIN } from '../../../domain/event.ts';
import { streamName } from '../../../domain/stream.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { createClaims } from '../../../infrastructure/postgres/claims.ts';
import { testContext, testType } from '../../support/content.ts';
import { useDatabase } from '../../support/database.ts';
import { createStepScheduler } from './step-scheduler.ts';

const FAULTS = ['none', 'none', 'none', 'refused', 'lost_before', 'lost_after', 'crash'] as const;
type Fault = (typeof FAULTS)[number];
/** A step: sets a value, deletes the entry, or undeletes it with its values. */
type Action = { readonly set: string | null } | 'delete' | 'undelete';
type Step = { readonly entry: number; readonly action: Action; readonly fault: Fault };

describe('unique values', () => {
  const database = useDatabase();
  const key = Buffer.alloc(32, 7);
  const type: ContentType = testType({ name: 'article', fields: [{ name: 'code', field_type: 'text', unique: true }] });
  const scopes = { code: `entry/${type.id}/id_code`, slug: `entry/${type.id}/slug` };
  const context = testContext();

  const steps = fc.array(
    fc.record<Step>({
      entry: fc.nat(2),
      action: fc.constantFrom<Action>(
        { set: 'a' },
        { set: 'b' },
        { set: 'c' },
        { set: 'a' },
        { set: 'b' },
        { set: null },
        'delete',
        'delete',
        'undelete',
        'undelete',
      ),
      fault: fc.constantFrom(...FAULTS),
    }),
    { minLength: 2, maxLength: 6 },
  );

  it('are never held by two entries, and are claimed exactly as the streams hold them after concurrent commands with failures have settled', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(steps, { minLength: 1, maxLength: 3 }),
        fc.array(fc.nat(5), { minLength: 20, maxLength: 60 }),
        async (rounds, choices) => {
          await database.db().query('truncate operational.claims');
          const eventStore = openMemoryEventStore();
          const claims = createClaims({ database: database.db(), key });
          const ids = [v7(), v7(), v7()];
          const scheduler = createStepScheduler(choices);
          for (const round of rounds) {
            await scheduler.run(
              round.map(
                ({ entry, action, fault }) =>
                  () =>
                    command(ids[entry]!, action, process({ eventStore, claims, scheduler, fault })),
              ),
            );
            await claims.reap({ olderThanSeconds: 0, heldBy });
          }
          expect(await claims.reap({ olderThanSeconds: 0, heldBy })).to.equal(0);
          await expectOneHolderEver(eventStore);
          expect(await claimed()).to.deep.equal(await held(eventStore, ids));

          function heldBy(owner: string) {
            return claimsOfEntry(
              { tenant: 'default', id: owner.slice('entry-default.'.length) },
              { eventStore, typeOfTenant: () => Promise.resolve(type) },
            );
          }
        },
      ),
      { numRuns: 200 },
    );
  }).timeout(60_000);

  it('are released at once by a command that is refused', async () => {
    const eventStore = openMemoryEventStore();
    const claims = createClaims({ database: database.db(), key });
    const refused: EventStore = { ...eventStore, append: () => Promise.reject(refusal('too_large')) };
    await command(v7(), { set: 'z' }, dependenciesOf(refused, claims));
    expect(
      await claims.claim({
        owner: 'another',
        claimed: Object.values(scopes).map((scope) => ({ tenant: 'default', scope, value: 'z' })),
      }),
    ).to.deep.equal([]);
  });

  /** Sets field and slug, and creates the entry if it does not exist. Refusals are expected. */
  async function command(id: string, action: Action, dependencies: EntryDependencies): Promise<void> {
    try {
      if (action === 'delete') await deleteEntry({ type, id }, context, dependencies);
      else if (action === 'undelete') await undeleteEntry({ type, id, fromHistory: true }, context, dependencies);
      else {
        const written = { data: { code: action.set }, slug: action.set ?? undefined };
        await runEntryCommand(
          { type, id, decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'change', ...written }) },
          context,
          dependencies,
        ).catch(async (error: unknown) => {
          if (!hasCode(error, 'entry_not_found')) throw error;
          await runEntryCommand(
            {
              type,
              id,
              isNew: true,
              decide: (state, base) =>
                state ? [] : entryDecider.decide(state, { ...base, kind: 'create', ...written }),
            },
            context,
            dependencies,
          );
        });
      }
    } catch (error) {
      if (
        !(
          ['unique_value_held', 'entry_not_found', 'invalid_status_transition', 'too_large', 'outcome_unknown'] as const
        ).some((code) => hasCode(error, code))
      )
        throw error;
    }
  }

  function dependenciesOf(eventStore: EventStore, claims: EntryDependencies['claims']): EntryDependencies {
    return {
      eventStore,
      claims,
      entryRows: {
        position: () => Promise.resolve(ORIGIN),
        load: () => Promise.resolve(undefined),
        referrers: () => Readable.from([]),
      },
      progress: { waitFor: () => Promise.resolve(true) },
      types: { get: () => Promise.resolve(type) },
    } as unknown as EntryDependencies;
  }

  /** The dependencies of one command, as if it ran in a process of its own. */
  function process({
    eventStore,
    claims,
    scheduler,
    fault,
  }: {
    eventStore: EventStore;
    claims: EntryDependencies['claims'];
    scheduler: ReturnType<typeof createStepScheduler>;
    fault: Fault;
  }): EntryDependencies {
    return dependenciesOf(
      {
        ...eventStore,
        async append(...args) {
          await scheduler.step();
          if (fault === 'refused') throw refusal('too_large');
          if (fault === 'lost_before') throw refusal('outcome_unknown');
          const result = await eventStore.append(...args);
          if (fault === 'lost_after') throw refusal('outcome_unknown');
          return result;
        },
      },
      {
        ...claims,
        async claim(...args) {
          await scheduler.step();
          return claims.claim(...args);
        },
        async confirm(...args) {
          await scheduler.step();
          if (fault === 'crash') throw new Error('crashed');
          await claims.confirm(...args);
        },
        async abandon(...args) {
          await scheduler.step();
          await claims.abandon(...args);
        },
      },
    );
  }

  async function expectOneHolderEver(eventStore: EventStore): Promise<void> {
    const entries = new Map<string, EntryAt>();
    for await (const event of eventStore.readAll()) {
      entries.set(event.stream, evolveEntry(entries.get(event.stream) ?? NO_ENTRY, event));
      const living = [...entries.values()].flatMap(({ state }) => (state?.deleted === false ? [state] : []));
      for (const values of [living.map(({ fields }) => fields['code']), living.map(({ slug }) => slug)]) {
        const held = values.filter((value) => typeof value === 'string');
        expect(new Set(held).size, 'a value is held twice').to.equal(held.length);
      }
    }
  }

  async function held(eventStore: EventStore, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const holders = new Map<string, string>();
    for (const id of ids) {
      const stream = streamName({ category: 'entry', tenant: 'default', id });
      const { state } = await foldEntry({ stream }, { eventStore });
      if (state?.deleted !== false) continue;
      const code = state.fields['code'];
      if (typeof code === 'string') holders.set(hmac(scopes.code, code), stream);
      if (state.slug !== undefined) holders.set(hmac(scopes.slug, state.slug), stream);
    }
    return new Map([...holders].toSorted());
  }

  async function claimed(): Promise<ReadonlyMap<string, string>> {
    const rows = await database
      .db()
      .query<{ value: string; owner: string }>(
        `select encode(value_hmac, 'hex') as value, owner from operational.claims`,
      );
    return new Map(rows.map(({ value, owner }) => [value, owner] as const).toSorted());
  }

  function hmac(scope: string, value: string): string {
    return createHmac('sha256', key)
      .update(JSON.stringify(['default', scope, value]))
      .digest('hex');
  }
});
