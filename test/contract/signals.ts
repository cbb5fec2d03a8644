import { expect } from 'chai';
import type { Signals } from '../../application/ports/signals.ts';
import { eventually } from '../support/eventually.ts';

/** Two endpoints of one bus: two processes, or one endpoint twice when the adapter has only one process. */
export type SignalsFixture = { readonly here: Signals; readonly there: Signals; close(): Promise<void> };

/** The contract of the port `Signals`. */
export function signalsContract(open: () => Promise<SignalsFixture>): void {
  let fixture: SignalsFixture;

  function collect(signals: Signals, channel: string): string[] {
    const received: string[] = [];
    signals.subscribe(channel, (payload) => received.push(payload));
    return received;
  }

  function expectReceived(received: readonly string[], expected: readonly string[]): Promise<void> {
    return eventually(() => {
      expect(received).to.deep.equal(expected);
    });
  }

  beforeEach(async () => {
    fixture = await open();
  });

  afterEach(() => fixture.close());

  it('delivers a signal once to the other process and once to its own', async () => {
    const here = collect(fixture.here, 'a');
    const there = fixture.there === fixture.here ? here : collect(fixture.there, 'a');
    fixture.here.publish('a', 'one');
    await expectReceived(there, ['one']);
    fixture.there.publish('a', 'two');
    await expectReceived(here, ['one', 'two']);
    await expectReceived(there, ['one', 'two']);
  });

  it('delivers signals only to handlers of the channel', async () => {
    const a = collect(fixture.there, 'a');
    const b = collect(fixture.there, 'b');
    fixture.here.publish('b', 'for b');
    fixture.here.publish('a', 'for a');
    await expectReceived(a, ['for a']);
    await expectReceived(b, ['for b']);
  });

  it('calls every handler of a channel, even when one throws', async () => {
    fixture.there.subscribe('a', () => {
      throw new Error('a handler that throws');
    });
    const received = collect(fixture.there, 'a');
    fixture.here.publish('a', 'one');
    await expectReceived(received, ['one']);
  });

  it('removes exactly the handler that unsubscribed', async () => {
    const received: string[] = [];
    const end = fixture.there.subscribe('a', (payload) => received.push(payload));
    const other = collect(fixture.there, 'a');
    fixture.here.publish('a', 'one');
    await expectReceived(received, ['one']);
    end();
    fixture.here.publish('a', 'two');
    await expectReceived(other, ['one', 'two']);
    expect(received).to.deep.equal(['one']);
  });

  it('delivers any text of up to 1 KB unchanged and in order', async () => {
    const payloads = [
      '',
      'line\nbreak',
      'ünï – 写本 "quoted" \'too\'',
      'x'.repeat(1_024),
      ...Array.from({ length: 300 }, (_, n) => `n${String(n)}`),
    ];
    const received = collect(fixture.there, 'a');
    for (const payload of payloads) fixture.here.publish('a', payload);
    await expectReceived(received, payloads);
  });

  it('never calls a handler within the publishing call', async () => {
    const received = collect(fixture.here, 'a');
    fixture.here.publish('a', 'one');
    expect(received).to.deep.equal([]);
    await expectReceived(received, ['one']);
  });
}
