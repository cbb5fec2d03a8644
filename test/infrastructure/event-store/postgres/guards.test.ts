import { expect } from 'chai';
import { randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { ClaimKey, Guards } from '../../../../application/ports/event-store.ts';
import { ORIGIN } from '../../../../domain/event.ts';
import { codeOf, collect, newEvent, newEvents, newStream } from '../../../contract/event-store-fixtures.ts';
import { useDatabase } from '../../../support/database.ts';
import { rejectionOf } from '../../../support/rejection.ts';
import { useStore } from './open-store.ts';

describe('an append with guards to the Postgres event store', () => {
  const database = useDatabase();
  const store = useStore(() => database.url());

  const append = (stream: string, guards: Guards) =>
    store().append(stream, [newEvent()], { expected: 'no_stream', guards });
  const isEmpty = async (stream: string) => (await collect(store().readStream(stream))).length === 0;
  const newClaim = (): ClaimKey => ({ tenant: 'default', scope: 'a/b', digest: randomBytes(32).toString('hex') });

  async function ownerOf({ digest }: ClaimKey): Promise<string | undefined> {
    const [row] = await database
      .db()
      .query<{ owner: string }>(
        `select owner from operational.claims where value_hmac = $1 and state = 'confirmed' and unsettled_since is null`,
        [Buffer.from(digest, 'hex')],
      );
    return row?.owner;
  }

  describe('on a stream', () => {
    const live = (stream: string): Guards => ({ streams: [{ stream, notEndingWith: 'EntryDeleted' }] });

    it('writes when the stream ends with another event', async () => {
      const target = newStream();
      await store().append(target, [newEvent()], { expected: 'no_stream' });
      expect((await append(newStream(), live(target))).revision).to.equal(0);
    });

    it('writes nothing when the stream does not exist', async () => {
      const stream = newStream();
      expect(await codeOf(append(stream, live(newStream())))).to.equal('guard_failed');
      expect(await isEmpty(stream)).to.equal(true);
    });

    it('writes nothing when the stream ends with the excluded event', async () => {
      const target = newStream();
      await store().append(target, [newEvent(), newEvent({ type: 'EntryDeleted' })], { expected: 'no_stream' });
      expect(await codeOf(append(newStream(), live(target)))).to.equal('guard_failed');
    });

    it('writes only when the data of the last event has the value', async () => {
      const target = newStream();
      await store().append(target, [newEvent({ data: { type_id: 'a' } })], { expected: 'no_stream' });
      const ending = (value: string): Guards => ({
        streams: [{ stream: target, notEndingWith: 'EntryDeleted', endingWith: { member: 'type_id', value } }],
      });
      expect((await append(newStream(), ending('a'))).revision).to.equal(0);
      expect(await codeOf(append(newStream(), ending('b')))).to.equal('guard_failed');
    });

    it('compares no members when the last events of the streams have more than 1 MiB as stored', async () => {
      const targets = Array.from({ length: 3 }, () => newStream());
      for (const target of targets)
        await store().append(
          target,
          [newEvent({ data: { type_id: 'a', noise: randomBytes(300_000).toString('base64') } })],
          {
            expected: 'no_stream',
          },
        );
      const guards = (of: readonly string[], withType: boolean): Guards => ({
        streams: of.map((stream) => ({
          stream,
          notEndingWith: 'EntryDeleted',
          ...(withType && { endingWith: { member: 'type_id', value: 'a' } }),
        })),
      });
      expect((await append(newStream(), guards(targets.slice(1), true))).revision).to.equal(0);
      expect(await codeOf(append(newStream(), guards(targets, true)))).to.equal('guard_failed');
      expect((await append(newStream(), guards(targets, false))).revision).to.equal(0);
    });

    it('is checked after the appends that arrived before', async () => {
      const target = newStream();
      await store().append(target, [newEvent()], { expected: 'no_stream' });
      const outcomes = await Promise.allSettled([
        append(newStream(), live(target)),
        store().append(target, [newEvent({ type: 'EntryDeleted' })], { expected: 0 }),
        append(newStream(), live(target)),
      ]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'fulfilled', 'rejected']);
    });

    it('does not refuse the repetition of an append that was written', async () => {
      const target = newStream();
      await store().append(target, [newEvent()], { expected: 'no_stream' });
      const [stream, events] = [newStream(), newEvents(1)];
      const options = { expected: 'no_stream', guards: live(target) } as const;
      const first = await store().append(stream, events, options);
      await store().append(target, [newEvent({ type: 'EntryDeleted' })], { expected: 0 });
      expect(await store().append(stream, events, options)).to.deep.equal({ ...first, duplicate: true });
    });

    it('refuses only its own append of a group commit', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 40 }, (_, n) => append(newStream(), n % 2 === 0 ? {} : live(newStream()))),
      );
      expect(outcomes.map(({ status }) => status === 'fulfilled')).to.deep.equal(outcomes.map((_, n) => n % 2 === 0));
    });

    it('refuses the whole atomic group', async () => {
      const [one, other] = [newStream(), newStream()];
      const writes = [
        { stream: one, events: newEvents(1), expected: 'no_stream', guards: live(newStream()) },
        { stream: other, events: newEvents(1), expected: 'no_stream' },
      ] as const;
      expect(await codeOf(store().appendMany?.(writes) ?? Promise.resolve())).to.equal('guard_failed');
      expect([await isEmpty(one), await isEmpty(other)]).to.deep.equal([true, true]);
    });
  });

  describe('on a text', () => {
    const silent = (text: string, after: Awaited<ReturnType<typeof head>>): Guards => ({
      unmentioned: { tenant: 'default', category: 'entry', text, after },
    });
    const head = () => store().head();
    const mention = (text: string, tenant = 'default') =>
      store().append(newStream('entry', tenant), [newEvent({ tenant, data: { author: text } })], {
        expected: 'no_stream',
      });

    it('writes when only events up to the position contain it', async () => {
      const id = uuidv7();
      await mention(id);
      expect((await append(newStream(), silent(id, await head()))).revision).to.equal(0);
    });

    it('names the event after the position that contains it', async () => {
      const [id, after] = [uuidv7(), await head()];
      const { position } = await mention(id);
      await mention(uuidv7());
      const error: unknown = await rejectionOf(append(newStream(), silent(id, after)));
      expect(error).to.include({ code: 'guard_failed' });
      expect(error).to.have.deep.property('cause', { guard: 'unmentioned', position });
    });

    it('finds an id in capital letters', async () => {
      const [id, after] = [uuidv7(), await head()];
      await mention(id.toUpperCase());
      expect(await codeOf(append(newStream(), silent(id, after)))).to.equal('guard_failed');
    });

    it('fails without a search when more than 8 MiB of events follow the position', async () => {
      const after = await head();
      for (let n = 0; n < 5; n += 1)
        await store().append(newStream(), [newEvent({ data: { noise: randomBytes(1_500_000).toString('base64') } })], {
          expected: 'no_stream',
        });
      expect(await codeOf(append(newStream(), silent(uuidv7(), after)))).to.equal('guard_failed');
    });

    it('counts the size of events before their compression', async () => {
      const after = await head();
      for (let n = 0; n < 5; n += 1)
        await store().append(newStream(), [newEvent({ data: { noise: 'x'.repeat(2_000_000) } })], {
          expected: 'no_stream',
        });
      expect(await codeOf(append(newStream(), silent(uuidv7(), after)))).to.equal('guard_failed');
    });

    it('ignores how many events other tenants write', async () => {
      const after = await head();
      await store().append(newStream('entry', 'busy'), newEvents(2_100, { tenant: 'busy' }), { expected: 'no_stream' });
      expect((await append(newStream(), silent(uuidv7(), after))).revision).to.equal(0);
    });

    it('ignores the events of its own stream', async () => {
      const [id, after, stream] = [uuidv7(), await head(), newStream()];
      await store().append(stream, [newEvent({ data: { author: id } })], { expected: 'no_stream' });
      const last = store().append(stream, [newEvent()], { expected: 0, guards: silent(id, after) });
      expect((await last).revision).to.equal(1);
    });

    it('ignores the events of other tenants', async () => {
      const [id, after] = [uuidv7(), await head()];
      await mention(id, 'another');
      expect((await append(newStream(), silent(id, after))).revision).to.equal(0);
    });

    it('sees an event that arrived in the same batch before it', async () => {
      const [id, after] = [uuidv7(), await head()];
      const outcomes = await Promise.allSettled([mention(id), append(newStream(), silent(id, after)), mention(id)]);
      expect(outcomes.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    });

    it('fails without a search when more than 2,000 events of the tenant follow the position', async () => {
      await store().append(newStream(), newEvents(2_100), { expected: 'no_stream' });
      const error: unknown = await rejectionOf(append(newStream(), silent(uuidv7(), ORIGIN)));
      expect(error).to.have.deep.property('cause', { guard: 'unmentioned', position: await head() });
    });
  });

  describe('on unique values', () => {
    it('takes a free value for its stream', async () => {
      const [stream, claim] = [newStream(), newClaim()];
      await append(stream, { taken: [claim] });
      expect(await ownerOf(claim)).to.equal(stream);
    });

    it('writes nothing, and takes nothing, when another stream has one of the values', async () => {
      const [first, second, held, free] = [newStream(), newStream(), newClaim(), newClaim()];
      await append(first, { taken: [held] });
      expect(await codeOf(append(second, { taken: [free, held] }))).to.equal('guard_failed');
      expect(await isEmpty(second)).to.equal(true);
      expect([await ownerOf(held), await ownerOf(free)]).to.deep.equal([first, undefined]);
    });

    it('lets one of 100 concurrent appends win', async () => {
      const claim = newClaim();
      const outcomes = await Promise.allSettled(
        Array.from({ length: 100 }, () => append(newStream(), { taken: [claim] })),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    });

    it('lets an append take a value that an earlier one of the same batch released', async () => {
      const [first, second, claim] = [newStream(), newStream(), newClaim()];
      await append(first, { taken: [claim] });
      await Promise.all([
        store().append(first, [newEvent()], { expected: 0, guards: { released: [claim] } }),
        append(second, { taken: [claim] }),
      ]);
      expect(await ownerOf(claim)).to.equal(second);
    });

    it('keeps the values of an append that is refused for its revision', async () => {
      const [stream, claim, other] = [newStream(), newClaim(), newClaim()];
      await append(stream, { taken: [claim] });
      const late = store().append(stream, [newEvent()], { expected: 7, guards: { taken: [other], released: [claim] } });
      expect(await codeOf(late)).to.equal('conflict');
      expect([await ownerOf(claim), await ownerOf(other)]).to.deep.equal([stream, undefined]);
    });

    it('confirms a value that the stream had claimed before the append', async () => {
      const [stream, claim] = [newStream(), newClaim()];
      await database
        .db()
        .query(
          `insert into operational.claims (tenant_id, scope, value_hmac, owner, state, unsettled_since) values ($1, $2, $3, $4, 'pending', now())`,
          [claim.tenant, claim.scope, Buffer.from(claim.digest, 'hex'), stream],
        );
      await append(stream, { taken: [claim] });
      expect(await ownerOf(claim)).to.equal(stream);
    });
  });

  it('is available to a process of the version before without guards', async () => {
    const stream = newStream();
    const { id, type, data, metadata } = newEvent();
    const [row] = await database
      .db()
      .query<{ r_outcomes: string }>(
        `select r_outcomes from eventstore.append(false, '{1}', '{1}', $1, 'entry', '{-1}', '{1}', '{1}', array[$2]::uuid[], $3, 'default', '', $4, $5)`,
        [stream, id, type, JSON.stringify(data), JSON.stringify(metadata)],
      );
    expect(row?.r_outcomes).to.match(/^o:0:/);
  });
});
