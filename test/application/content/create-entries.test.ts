import { expect } from 'chai';
import { v7 } from 'uuid';
import { claimsOfEntry } from '../../../application/content/claims-of-entry.ts';
import { createEntries } from '../../../application/content/create-entries.ts';
import type { EntryDependencies } from '../../../application/content/run-entry-command.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { ContentType } from '../../../domain/content/content-type.ts';
import { hasCode, isAppError, refusal } from '../../../domain/errors.ts';
import { openMemoryEventStore } from '../../../infrastructure/event-store/memory/memory-event-store.ts';
import { createClaims } from '../../../infrastructure/postgres/claims.ts';
import { testContext, testType } from '../../support/content.ts';
import { useDatabase } from '../../support/database.ts';

describe('bulk creation', () => {
  const database = useDatabase();
  const type: ContentType = testType({ name: 'article', fields: [{ name: 'code', field_type: 'text', unique: true }] });
  const scope = `entry/${type.id}/id_code`;
  const items = ['a', 'b', 'c'].map((code) => ({ code }));
  const claims = () => createClaims({ database: database.db(), key: Buffer.alloc(32, 7) });
  const isFree = async (value: string) =>
    (await claims().claim({ owner: 'somebody else', claimed: [{ tenant: 'default', scope, value }] })).length === 0;
  beforeEach(async () => {
    await database.db().query('truncate operational.claims');
  });

  function dependencies(eventStore: EventStore): EntryDependencies {
    return {
      eventStore,
      claims: claims(),
      entryRows: { load: () => Promise.resolve(undefined) },
      types: { get: () => Promise.resolve(type) },
    } as unknown as EntryDependencies;
  }

  it('sends an atomic append again with the same ids when its outcome is unknown', async () => {
    const store = openMemoryEventStore();
    let sends = 0;
    const eventStore: EventStore = {
      ...store,
      async appendMany(writes) {
        sends += 1;
        const results = (await store.appendMany?.(writes)) ?? [];
        if (sends < 3) throw refusal('outcome_unknown');
        return results;
      },
    };
    const { entries } = await createEntries({ type, items }, testContext(), dependencies(eventStore));
    const streams: string[] = [];
    for await (const event of store.readAll()) streams.push(event.stream);
    expect([sends, entries.length, streams.length]).to.deep.equal([3, 3, 3]);
  });

  it('answers 503 after an outage in the middle of several appends; the values that were written stay claimed and the others are released', async () => {
    const store = openMemoryEventStore();
    let appends = 0;
    const eventStore: EventStore = {
      ...store,
      capabilities: { ...store.capabilities, atomicMultiStream: false },
      append: (...args) => ((appends += 1) > 1 ? Promise.reject(refusal('store_unavailable')) : store.append(...args)),
    };
    const error = await createEntries({ type, items }, testContext(), dependencies(eventStore)).catch(
      (reason: unknown) => reason,
    );
    expect(hasCode(error, 'outcome_unknown')).to.equal(true);
    expect(isAppError(error) && error.status).to.equal(503);
    expect([await isFree('a'), await isFree('b'), await isFree('c')]).to.deep.equal([false, false, false]);
    const heldBy = (owner: string) =>
      claimsOfEntry(
        { tenant: 'default', id: owner.slice('entry-default.'.length) },
        { eventStore: store, typeOfTenant: () => Promise.resolve(type) },
      );
    await claims().reap({ olderThanSeconds: 0, heldBy });
    expect([await isFree('a'), await isFree('b'), await isFree('c')]).to.deep.equal([false, true, true]);
  });

  it('serves other work between items with patterns', async () => {
    const ruled = testType({
      name: 'note',
      fields: [
        {
          name: 'code',
          field_type: 'text',
          validation: [{ rule: 'pattern', params: { pattern: '(?:a?){400}$' } }],
        },
      ],
    });
    const order: string[] = [];
    const context = testContext({ newId: () => (order.push('item'), v7()) });
    const long = Array.from({ length: 20 }, () => ({ code: 'a'.repeat(2_000) }));
    setImmediate(() => order.push('other'));
    const store = openMemoryEventStore();
    await createEntries({ type: ruled, items: long }, context, dependencies(store));
    const planned = order.filter((step) => step === 'item').length;
    expect(planned).to.be.greaterThan(20);
    expect(order.indexOf('other')).to.be.below(20);
  });
});
