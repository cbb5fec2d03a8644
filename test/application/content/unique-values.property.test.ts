import { expect } from 'chai';
import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { v7 } from 'uuid';
import { applyStatements } from '../../../application/content/apply-statements.ts';
import { claimMissingValues } from '../../../application/content/backfill-unique-claims.ts';
import { changeEntry } from '../../../application/content/change-entry.ts';
import { createEntries } from '../../../application/content/create-entries.ts';
import { deleteContentType } from '../../../application/content/delete-content-type.ts';
import { deleteEntry } from '../../../application/content/delete-entry.ts';
import { foldEntry } from '../../../application/content/fold-entry.ts';
import { createPastState } from '../../../application/content/past-state.ts';
import { renameContentType } from '../../../application/content/rename-content-type.ts';
import { renameField } from '../../../application/content/rename-field.ts';
import { restoreEntry } from '../../../application/content/restore-entry.ts';
import { type EntryDependencies, runEntryCommand } from '../../../application/content/run-entry-command.ts';
import { saveContentType } from '../../../application/content/save-content-type.ts';
import { undeleteEntry } from '../../../application/content/undelete-entry.ts';
import { uniqueClaims } from '../../../application/content/unique-values.ts';
import type { Claims } from '../../../application/ports/claims.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType, StoredContentType } from '../../../domain/content/content-type.ts';
import type { FieldType } from '../../../domain/content/definition.ts';
import { storedFields } from '../../../domain/content/entry-fields.ts';
import { entryDecider } from '../../../domain/content/entry.ts';
import { uniqueScope } from '../../../domain/content/field-types.ts';
import { isAppError, refusal } from '../../../domain/errors.ts';
import type { Json, JsonObject } from '../../../domain/json.ts';
import { parseStream } from '../../../domain/stream.ts';
import { createUniqueValuesOfStream } from '../../../infrastructure/composition/shared-state/create-unique-values-of-stream.ts';
import { createClaims } from '../../../infrastructure/postgres/claims.ts';
import { LIVE, contentTypesById, readContentTypes } from '../../../projections/content/content-types/rows.ts';
import { createEntryQueries } from '../../../projections/content/entries/entry-queries.ts';
import { createPastReader } from '../../../projections/content/entries/past-reader.ts';
import { type Content, openContent, testContext } from '../../support/content.ts';
import { useDatabase } from '../../support/database.ts';
import { createStepScheduler } from './step-scheduler.ts';

const FAULTS = ['none', 'none', 'none', 'none', 'refused', 'lost_before', 'lost_after', 'crash'] as const;
type Fault = (typeof FAULTS)[number];

/** A command on an entry. An id is used again after its type was deleted. */
type OnEntry =
  | { readonly kind: 'create' | 'update'; readonly value: string | null; readonly slug?: string }
  | { readonly kind: 'bulk'; readonly values: readonly (string | null)[] }
  | { readonly kind: 'delete' | 'undelete' | 'restore' };
/** A command on a content type. The field is named `a` or `b` at the time of the command. */
type OnType =
  | {
      readonly kind: 'save';
      readonly field: FieldType | undefined;
      readonly unique: boolean;
      readonly soft: boolean;
      readonly adopt: boolean;
    }
  | { readonly kind: 'rename_field' | 'rename_type' | 'apply' }
  | { readonly kind: 'drop'; readonly content: 'hard' | 'soft' };
type Step<Action> = { readonly action: Action; readonly entry: number; readonly fault: Fault };

const TYPES: readonly FieldType[] = ['text', 'integer', 'number', 'decimal', 'email'];
/** Texts that are equal, or invalid, as values of other types. */
const value = fc.constantFrom('1', '01', '1.0', '1.00', '2', ' 2', '0.00001', '1e-05', 'a', '');
const ON_ENTRY: fc.Arbitrary<OnEntry> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record(
      {
        kind: fc.constantFrom('create' as const, 'update' as const),
        value: fc.option(value, { freq: 9 }),
        slug: fc.constantFrom('s', 't'),
      },
      { requiredKeys: ['kind', 'value'] },
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('bulk' as const),
      values: fc.array(fc.option(value), { minLength: 1, maxLength: 2 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'undelete' as const, 'restore' as const) }),
  },
);
const ON_TYPE: fc.Arbitrary<OnType> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('save' as const),
      field: fc.option(fc.constantFrom(...TYPES), { nil: undefined, freq: 4 }),
      unique: fc.oneof(fc.constant(true), fc.boolean()),
      soft: fc.boolean(),
      adopt: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('rename_field' as const, 'rename_type' as const, 'apply' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('drop' as const),
      content: fc.constantFrom('hard' as const, 'soft' as const),
    }),
  },
);
const stepOf = <Action>(action: fc.Arbitrary<Action>): fc.Arbitrary<Step<Action>> =>
  fc.record({ action, entry: fc.nat(2), fault: fc.constantFrom(...FAULTS) });
const quiet = (step: fc.Arbitrary<Step<OnType>>) =>
  step.map((given) => ({ ...given, fault: given.fault === 'crash' ? ('crash' as const) : ('none' as const) }));
const choices = fc.array(fc.nat(5), { minLength: 20, maxLength: 60 });

/** Refusals that the test expects. */
const ANSWERS: readonly string[] = [
  'unique_value_held',
  'entry_not_found',
  'invalid_status_transition',
  'too_large',
  'outcome_unknown',
  'validation_failed',
  'revision_not_found',
  'conflict',
  'schema_migration_failed',
  'schema_not_found',
  'schema_exists',
  'field_not_found',
  'field_exists',
  'ddl_in_progress',
  'invalid_schema',
];

describe('unique values of entries and content types that change', () => {
  const database = useDatabase();
  const key = Buffer.alloc(32, 7);
  const ids = [v7(), v7(), v7()] as const;
  const parameters = { ...(process.env['FC_SEED'] === undefined ? {} : { seed: Number(process.env['FC_SEED']) }) };

  it('are never held by two entries, and are claimed exactly as the streams hold them, after any concurrent commands on entries and changes of their type', async () => {
    const round = fc.oneof(
      {
        weight: 3,
        arbitrary: fc
          .array(stepOf(ON_ENTRY), { minLength: 1, maxLength: 4 })
          .map((entries) => ({ entries, types: [] as Step<OnType>[] })),
      },
      {
        weight: 2,
        arbitrary: quiet(stepOf(ON_TYPE)).map((step) => ({ entries: [] as Step<OnEntry>[], types: [step] })),
      },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 12 }), choices, async (rounds, order) => {
        const stand = await open();
        for (const { entries, types } of rounds) {
          await stand.run([...entries, ...types], order);
          await stand.settle();
          expect(await stand.claimed()).to.deep.equal(await stand.held({ strict: true }));
        }
        await stand.close();
      }),
      { numRuns: 40, ...parameters },
    );
  }).timeout(300_000);

  it('are claimed by one of the entries that hold them when commands on entries and types run concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(stepOf(ON_ENTRY), { minLength: 1, maxLength: 3 }), quiet(stepOf(ON_TYPE))), {
          minLength: 1,
          maxLength: 6,
        }),
        choices,
        async (rounds, order) => {
          const stand = await open();
          for (const [entries, type] of rounds) {
            await stand.run([...entries, type], order);
            await stand.settle();
            const [claimed, held] = [await stand.claimed(), await stand.held({ strict: false })];
            expect([...claimed.keys()]).to.deep.equal([...held.keys()]);
            for (const [value, owners] of held) expect(owners).to.include.members(claimed.get(value) ?? []);
          }
          await stand.close();
        },
      ),
      { numRuns: 40, ...parameters },
    );
  }).timeout(300_000);

  async function open() {
    const db = database.db();
    await db.query(
      'drop schema if exists rm_content cascade; drop schema if exists content cascade; truncate operational.claims',
    );
    const claims = createClaims({ database: db, key });
    const world = await openContent({ database: db, claims });
    const { reads } = createEntryQueries({
      database: db,
      past: createPastReader({ database: db, stateAt: createPastState({ eventStore: world.eventStore() }) }),
    });
    const typeById = async (id: string) => (await contentTypesById(db, LIVE, [id])).get(id);
    const unclaimed = async (id: string) => {
      const type = await typeById(id);
      if (!type || type.deleted) return;
      await claimMissingValues(
        {
          tenant: type.tenant,
          typeId: id,
          name: type.name,
          fields: type.definition.fields.filter(({ unique }) => unique === true),
        },
        { claims, reader: world.contentTypes().schemaSessions },
      );
    };
    const heldBy = createUniqueValuesOfStream({
      eventStore: world.eventStore(),
      vault: undefined as never,
      content: { typeById, backfillClaims: unclaimed },
    });
    await saveContentType(
      {
        verb: 'post',
        input: { name: 'one', with_soft_delete: true, fields: [{ name: 'a', field_type: 'text', unique: true }] },
      },
      testContext(),
      world.contentTypes(),
    );
    await world.project();

    async function run(steps: readonly Step<OnEntry | OnType>[], order: readonly number[]): Promise<void> {
      const scheduler = createStepScheduler(order);
      await scheduler.run(
        steps.map((step) => async () => {
          const through = faulty({ eventStore: world.eventStore(), claims, scheduler, fault: step.fault });
          try {
            await perform(world, { ...world.dependencies(), ...through, types: world.types() }, through, step);
          } catch (error) {
            if (!isAppError(error) || !ANSWERS.includes(error.code)) throw error;
          }
        }),
      );
    }

    /** Lets the read model catch up and the reaper run, until the reaper finds nothing to do. */
    async function settle(): Promise<void> {
      await world.project();
      for (let pass = 0; pass < 3; pass += 1) await claims.reap({ olderThanSeconds: 0, heldBy });
    }

    const types = (): Promise<readonly StoredContentType[]> => readContentTypes(db, LIVE, {});
    return {
      run,
      settle,
      close: () => world.close(),
      /**
       * Claims of the current unique fields and of slugs, as HMAC of scope and value, with the owner. Claims of other
       * fields are ignored.
       */
      async claimed(): Promise<ReadonlyMap<string, readonly string[]>> {
        const asked = (await types()).flatMap(({ id, definition }) =>
          [...definition.fields.filter(({ unique }) => unique === true).map((field) => field.id), 'slug'].map((field) =>
            uniqueScope(id, field),
          ),
        );
        const rows = await db.query<{ value: string; owner: string }>(
          `select encode(value_hmac, 'hex') as value, owner from operational.claims where scope = any ($1::text[])`,
          [asked],
        );
        return new Map(rows.map(({ value: of, owner }) => [of, [owner]] as const).toSorted());
      },
      /** The values that the streams hold; the rows hold the same. */
      async held({ strict }: { readonly strict: boolean }): Promise<ReadonlyMap<string, readonly string[]>> {
        const holders = new Map<string, string[]>();
        const all = await types();
        for (const stream of await entryStreams(world)) {
          const first = (await foldEntry({ stream }, { eventStore: world.eventStore() })).state;
          const type = all.find(({ id }) => id === first?.typeId);
          const state = type && (await foldEntry({ stream, type }, { eventStore: world.eventStore() })).state;
          if (!type || state?.deleted !== false) continue;
          for (const claim of uniqueClaims(type, state))
            holders.set(hmac(claim.scope, claim.value), [
              ...(holders.get(hmac(claim.scope, claim.value)) ?? []),
              stream,
            ]);
          if (!type.deleted)
            expect((await reads.load(type, state.id))?.fields, stream).to.deep.equal({
              ...Object.fromEntries(storedFields(type.definition).map(({ key: name }) => [name, null])),
              ...known(type, state.fields),
            });
        }
        if (strict) for (const owners of holders.values()) expect(owners, 'a value is held twice').to.have.length(1);
        return new Map([...holders].toSorted());
      },
    };
  }

  const known = ({ definition }: ContentType, fields: JsonObject) =>
    Object.fromEntries(storedFields(definition).map(({ key: name }) => [name, fields[name] ?? null]));

  async function entryStreams(content: Content): Promise<readonly string[]> {
    const streams = new Set<string>();
    for await (const { stream } of content.eventStore().readAll({ after: content.start() }))
      if (parseStream(stream)?.category === 'entry') streams.add(stream);
    return [...streams];
  }

  async function perform(
    world: Content,
    entries: EntryDependencies,
    { claims, eventStore }: { readonly claims: Claims; readonly eventStore: EventStore },
    { action, entry }: Step<OnEntry | OnType>,
  ): Promise<void> {
    const context = testContext();
    const [live] = await world.contentTypeQueries().list('default');
    const name = live?.name ?? 'one';
    const dependencies = { ...world.contentTypes(), eventStore, claims };
    switch (action.kind) {
      case 'save': {
        const { field, unique, soft, adopt } = action;
        const called = live?.definition.fields[0]?.name ?? live?.retained[0]?.name ?? 'a';
        const fields = field === undefined ? [] : [{ name: called, field_type: field, unique }];
        await saveContentType(
          { verb: 'post', input: { name, with_soft_delete: soft, fields }, adopt },
          context,
          dependencies,
        );
        return;
      }
      case 'rename_field': {
        const called = live?.definition.fields[0]?.name ?? 'a';
        await renameField({ name, field: called, newName: called === 'a' ? 'b' : 'a' }, context, dependencies);
        return;
      }
      case 'rename_type':
        await renameContentType({ name, newName: name === 'one' ? 'two' : 'one' }, context, dependencies);
        return;
      case 'apply':
        await applyStatements({ name }, context, dependencies);
        return;
      case 'drop':
        await deleteContentType({ name, content: action.content }, context, dependencies);
        return;
      default: {
        const type = await world.types().get('default', name);
        if (type) await onEntry(type, entry, action, entries);
      }
    }
  }

  async function onEntry(
    type: ContentType,
    entry: number,
    action: OnEntry,
    dependencies: EntryDependencies,
  ): Promise<void> {
    const context = testContext();
    const id = ids[entry] ?? ids[0];
    switch (action.kind) {
      case 'create': {
        const data = dataOf(type, action.value);
        await runEntryCommand(
          {
            type,
            id,
            isNew: true,
            decide: (state, base) => entryDecider.decide(state, { ...base, kind: 'create', data, slug: action.slug }),
          },
          context,
          dependencies,
        );
        return;
      }
      case 'update':
        await changeEntry({ type, id, data: dataOf(type, action.value), slug: action.slug }, context, dependencies);
        return;
      case 'bulk':
        await createEntries({ type, items: action.values.map((given) => dataOf(type, given)) }, context, dependencies);
        return;
      case 'delete':
        await deleteEntry({ type, id }, context, dependencies);
        return;
      case 'undelete':
        await undeleteEntry({ type, id, fromHistory: true }, context, dependencies);
        return;
      case 'restore':
        await restoreEntry(
          {
            type,
            id,
            revision: '1',
            except: new Set(),
            window: { holds: () => true, refusal: () => refusal('internal') },
          },
          context,
          dependencies,
        );
    }
  }

  /** The text converted to the field's current type, as far as possible. */
  function dataOf({ definition }: ContentType, given: string | null): JsonObject {
    const [field] = definition.fields;
    if (!field) return {};
    const read: Json =
      given === null
        ? null
        : field.field_type === 'integer' || field.field_type === 'number'
          ? Number(given.trim() || 'x')
          : field.field_type === 'email'
            ? `${given.trim()}@b.co`
            : given;
    return { [field.name]: typeof read === 'number' && Number.isNaN(read) ? null : read };
  }

  /** The dependencies of one command, as if it ran in a process of its own. */
  function faulty({
    eventStore,
    claims,
    scheduler,
    fault,
  }: {
    readonly eventStore: EventStore;
    readonly claims: Claims;
    readonly scheduler: ReturnType<typeof createStepScheduler>;
    readonly fault: Fault;
  }): { readonly eventStore: EventStore; readonly claims: Claims } {
    async function writing<T>(work: () => Promise<T>): Promise<T> {
      await scheduler.step();
      if (fault === 'refused') throw refusal('too_large');
      if (fault === 'lost_before') throw refusal('outcome_unknown');
      const result = await work();
      if (fault === 'lost_after') throw refusal('outcome_unknown');
      return result;
    }
    async function settling(work: () => Promise<void>): Promise<void> {
      await scheduler.step();
      if (fault === 'crash') throw new Error('crashed');
      await work();
    }
    return {
      eventStore: {
        ...eventStore,
        append: (...given) => writing(() => eventStore.append(...given)),
        appendMany: (...given) =>
          writing(() => eventStore.appendMany?.(...given) ?? Promise.reject(refusal('internal'))),
      },
      claims: {
        ...claims,
        async claim(...given) {
          await scheduler.step();
          return claims.claim(...given);
        },
        confirm: (...given) => settling(() => claims.confirm(...given)),
        abandon: (...given) => settling(() => claims.abandon(...given)),
      },
    };
  }

  function hmac(scope: string, given: string): string {
    return createHmac('sha256', key)
      .update(JSON.stringify(['default', scope, given]))
      .digest('hex');
  }
});
