import { expect } from 'chai';
import type { Signals } from '../../application/ports/signals.ts';
import { eventually } from '../support/eventually.ts';

/** Two ends of one bus: two processes, or twice the same where there is but one process. */
export type SignalsFixture = { readonly here: Signals; readonly there: Signals; close(): Promise<void> };

/** What every adapter of `Signals` promises. */
export function signalsContract(open: () => Promise<SignalsFixture>): void {
  let fixture: SignalsFixture;

  function collect(signals: Signals, channel: string): string[] {
    const heard: string[] = [];
    signals.subscribe(channel, (payload) => heard.push(payload));
    return heard;
  }

  function hears(heard: readonly string[], expected: readonly string[]): Promise<void> {
    return eventually(() => {
      expect(heard).to.deep.equal(expected);
    });
  }

  beforeEach(async () => {
    fixture = await open();
  });

  afterEach(() => fixture.close());

  it('reaches the other process and its own, each once', async () => {
    const here = collect(fixture.here, 'a');
    const there = fixture.there === fixture.here ? here : collect(fixture.there, 'a');
    fixture.here.publish('a', 'one');
    await hears(there, ['one']);
    fixture.there.publish('a', 'two');
    await hears(here, ['one', 'two']);
    await hears(there, ['one', 'two']);
  });

  it('reaches only listeners of the channel', async () => {
    const a = collect(fixture.there, 'a');
    const b = collect(fixture.there, 'b');
    fixture.here.publish('b', 'for b');
    fixture.here.publish('a', 'for a');
    await hears(a, ['for a']);
    await hears(b, ['for b']);
  });

  it('reaches every listener of a channel, also when one throws', async () => {
    fixture.there.subscribe('a', () => {
      throw new Error('a listener at fault');
    });
    const heard = collect(fixture.there, 'a');
    fixture.here.publish('a', 'one');
    await hears(heard, ['one']);
  });

  it('ends a listening for good, and only that one', async () => {
    const heard: string[] = [];
    const end = fixture.there.subscribe('a', (payload) => heard.push(payload));
    const other = collect(fixture.there, 'a');
    fixture.here.publish('a', 'one');
    await hears(heard, ['one']);
    end();
    fixture.here.publish('a', 'two');
    await hears(other, ['one', 'two']);
    expect(heard).to.deep.equal(['one']);
  });

  it('carries any text of up to 1 KB unchanged, in order', async () => {
    const payloads = ['', 'line\nbreak', 'ünï – 写本 "quoted" \'too\'', 'x'.repeat(1_024), ...Array.from({ length: 300 }, (_, n) => `n${String(n)}`)];
    const heard = collect(fixture.there, 'a');
    for (const payload of payloads) fixture.here.publish('a', payload);
    await hears(heard, payloads);
  });

  it('never calls a listener inside the call that publishes', async () => {
    const heard = collect(fixture.here, 'a');
    fixture.here.publish('a', 'one');
    expect(heard).to.deep.equal([]);
    await hears(heard, ['one']);
  });
}
