import { expect } from 'chai';
import { createCredentialCache } from '../../../application/identity/credential-cache.ts';
import { rejectionOf } from '../../support/rejection.ts';

function openCache() {
  let now = 0;
  const cache = createCredentialCache<string>({
    accepted: new Map(),
    refused: new Map(),
    isAccepted: (value) => value !== 'refused',
    nowMs: () => now,
  });
  const loads: string[] = [];
  const load =
    (value: string, untilMs = 100) =>
    () => {
      loads.push(value);
      return Promise.resolve({ value, untilMs });
    };
  return {
    cache,
    loads,
    load,
    setTime: (ms: number) => {
      now = ms;
    },
  };
}

describe('the credential cache', () => {
  it('loads a credential once, and then answers synchronously', async () => {
    const { cache, load, loads } = openCache();
    expect(await cache.get('k', load('accepted'))).to.equal('accepted');
    expect(cache.get('k', load('other'))).to.equal('accepted');
    expect(loads).to.deep.equal(['accepted']);
  });

  it('loads a credential once for concurrent callers', async () => {
    const { cache, load, loads } = openCache();
    expect(
      await Promise.all([cache.get('k', load('first')), cache.get('k', load('second')), cache.get('k', load('third'))]),
    ).to.deep.equal(['first', 'first', 'first']);
    expect(loads).to.have.length(1);
  });

  it('keeps accepted and refused credentials until they expire', async () => {
    const { cache, load, setTime } = openCache();
    await cache.get('k', load('accepted', 10));
    await cache.get('b', load('refused', 10));
    setTime(9);
    expect([cache.get('k', load('new')), cache.get('b', load('new'))]).to.deep.equal(['accepted', 'refused']);
    setTime(10);
    expect(await Promise.all([cache.get('k', load('new')), cache.get('b', load('new'))])).to.deep.equal(['new', 'new']);
  });

  it('loads again after an invalidation', async () => {
    const { cache, load } = openCache();
    await cache.get('k', load('old'));
    cache.invalidate();
    expect(await cache.get('k', load('new'))).to.equal('new');
  });

  it('does not reuse a load that began before an invalidation', async () => {
    const { cache, load } = openCache();
    let answer: (result: { value: string; untilMs: number }) => void = () => undefined;
    const slow = cache.get(
      'slow',
      () =>
        new Promise((resolve) => {
          answer = resolve;
        }),
    );
    cache.invalidate();
    expect(await cache.get('slow', load('fresh'))).to.equal('fresh');
    answer({ value: 'stale', untilMs: 100 });
    expect(await slow).to.equal('stale');
    // The stale result may cost another load, but is never answered.
    expect(await cache.get('slow', load('fresh'))).to.equal('fresh');
  });

  it('passes a failed load to its callers and does not cache it', async () => {
    const { cache, load } = openCache();
    const failing = () => Promise.reject(new Error('no database'));
    expect(String(await rejectionOf(Promise.resolve(cache.get('k', failing))))).to.contain('no database');
    expect(await cache.get('k', load('accepted'))).to.equal('accepted');
  });
});
