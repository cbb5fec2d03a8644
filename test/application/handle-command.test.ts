import { expect } from 'chai';
import { appendOnce, handleCommand } from '../../application/handle-command.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { CommandContext } from '../../domain/context.ts';
import { hasCode, refusal } from '../../domain/errors.ts';
import { openMemoryEventStore } from '../../infrastructure/event-store/memory/memory-event-store.ts';
import { testContext } from '../support/content.ts';
import { gate } from '../support/gate.ts';

type Counted = { readonly type: 'Counted'; readonly data: Readonly<Record<string, never>> };

describe('commands', () => {
  const count = (
    eventStore: EventStore,
    stream: string,
    snapshot?: { state: number; revision: number },
    context: Partial<CommandContext> = {},
  ) =>
    handleCommand<number, Counted>(
      {
        stream,
        decider: { initialState: () => 0, evolve: (state) => state + 1 },
        parse: () => ({ type: 'Counted', data: {} }),
        decide: () => [{ type: 'Counted', data: {} }],
        snapshot,
      },
      testContext(context),
      { eventStore },
    );

  it('of one process on one stream run one after another, without conflicts', async () => {
    const store = openMemoryEventStore();
    let conflicts = 0;
    const eventStore: EventStore = {
      ...store,
      append: (...args) =>
        store.append(...args).catch((error: unknown) => {
          conflicts += 1;
          throw error;
        }),
    };
    const outcomes = await Promise.all(
      Array.from({ length: 300 }, () => count(eventStore, 'entry-default.one', { state: 0, revision: -1 })),
    );
    expect(outcomes.map(({ state }) => state)).to.deep.equal(Array.from({ length: 300 }, (_, n) => n + 1));
    expect(conflicts).to.equal(0);
  });

  it('of a repeated request append once, also when an earlier attempt was suspended before its append', async () => {
    const store = openMemoryEventStore();
    const suspended = gate();
    const beforeAppend = gate();
    // The two attempts run in two processes, so each has a store of its own on the same log.
    const first: EventStore = {
      ...store,
      async append(...args) {
        beforeAppend.open();
        await suspended.opened;
        return store.append(...args);
      },
    };
    const found: string[] = [];
    const attempt = (name: string, eventStore: EventStore, isRepeat: boolean) =>
      count(eventStore, 'entry-default.repeated', undefined, {
        causationId: 'request-1',
        repeatable: { attempt: name, isRepeat, foundEarlier: () => found.push(name) },
      });
    const slow = attempt('first', first, false);
    await beforeAppend.opened;
    const second = await attempt('second', { ...store }, true);
    suspended.open();
    const late = await slow;
    expect(found).to.deep.equal(['first']);
    expect([late.isEarlier, late.position, late.revision]).to.deep.equal([true, second.position, 0]);
    const third = await attempt('third', { ...store }, true);
    expect([third.isEarlier, third.position, third.state]).to.deep.equal([true, second.position, 1]);
    await count({ ...store }, 'entry-default.repeated');
    expect((await attempt('fourth', { ...store }, true)).state).to.equal(1);
  });

  it('do not wait for commands on other streams, and continue after a command on the same stream failed', async () => {
    const store = openMemoryEventStore();
    const hanging = gate();
    const eventStore: EventStore = {
      ...store,
      async append(stream, events, options) {
        if (stream === 'entry-default.hangs') {
          await hanging.opened;
          throw refusal('too_large');
        }
        return store.append(stream, events, options);
      },
    };
    const first = count(eventStore, 'entry-default.hangs').catch((error: unknown) => hasCode(error, 'too_large'));
    const second = count(eventStore, 'entry-default.hangs').catch((error: unknown) => hasCode(error, 'too_large'));
    expect((await count(eventStore, 'entry-default.free')).state).to.equal(1);
    hanging.open();
    expect(await Promise.all([first, second])).to.deep.equal([true, true]);
  });

  describe('retrying an append', () => {
    const sends = (...codes: readonly ('outcome_unknown' | 'store_unavailable' | 'ok')[]) => {
      let sent = 0;
      return appendOnce(() => {
        const code = codes[Math.min(sent, codes.length - 1)] ?? 'ok';
        sent += 1;
        return code === 'ok' ? Promise.resolve(sent) : Promise.reject(refusal(code));
      }).catch((error: unknown) =>
        (['outcome_unknown', 'store_unavailable'] as const).find((code) => hasCode(error, code)),
      );
    };

    it('continues until the outcome is known', async () => {
      expect(await sends('outcome_unknown', 'store_unavailable', 'ok')).to.equal(3);
    });

    it('reports outcome_unknown when one of the sends may have been written', async () => {
      expect(await sends('outcome_unknown', 'store_unavailable')).to.equal('outcome_unknown');
      expect(await sends('store_unavailable')).to.equal('store_unavailable');
    });
  });
});
