import { expect } from 'chai';
import { createVerdictCache } from '../../../application/identity/verdict-cache.ts';

function rig() {
  let now = 0;
  const cache = createVerdictCache<string>({ good: new Map(), bad: new Map(), isGood: (value) => value !== 'bad', nowMs: () => now });
  const loads: string[] = [];
  const load = (value: string, untilMs = 100) => () => {
    loads.push(value);
    return Promise.resolve({ value, untilMs });
  };
  return {
    cache, loads, load,
    at: (ms: number) => {
      now = ms;
    },
  };
}

describe('the cache of verdicts on credentials', () => {
  it('loads once and answers without a promise after that', async () => {
    const { cache, load, loads } = rig();
    expect(await cache.get('k', load('good'))).to.equal('good');
    expect(cache.get('k', load('other'))).to.equal('good');
    expect(loads).to.deep.equal(['good']);
  });

  it('loads once for everybody who asks at once', async () => {
    const { cache, load, loads } = rig();
    expect(await Promise.all([cache.get('k', load('good')), cache.get('k', load('late')), cache.get('k', load('later'))])).to.deep.equal(['good', 'good', 'good']);
    expect(loads).to.have.length(1);
  });

  it('believes good and bad verdicts until their time', async () => {
    const { cache, load, at } = rig();
    await cache.get('k', load('good', 10));
    await cache.get('b', load('bad', 10));
    at(9);
    expect([cache.get('k', load('new')), cache.get('b', load('new'))]).to.deep.equal(['good', 'bad']);
    at(10);
    expect(await Promise.all([cache.get('k', load('new')), cache.get('b', load('new'))])).to.deep.equal(['new', 'new']);
  });

  it('asks again after an invalidation, and does not believe what was being loaded before it', async () => {
    const { cache, load } = rig();
    await cache.get('k', load('old'));
    cache.invalidate();
    expect(await cache.get('k', load('new'))).to.equal('new');

    let answer: (verdict: { value: string; untilMs: number }) => void = () => undefined;
    const slow = cache.get('slow', () => new Promise((resolve) => {
      answer = resolve;
    }));
    cache.invalidate();
    const fresh = cache.get('slow', load('fresh'));
    expect(await fresh).to.equal('fresh');
    answer({ value: 'stale', untilMs: 100 });
    expect(await slow).to.equal('stale');
    // The late one may cost a load, never a wrong answer.
    expect(await cache.get('slow', load('fresh'))).to.equal('fresh');
  });

  it('keeps a failure from nobody and for nobody', async () => {
    const { cache, load } = rig();
    const failing = () => Promise.reject(new Error('no database'));
    await Promise.resolve(cache.get('k', failing)).then(() => expect.fail('answered'), (error: unknown) => {
      expect(String(error)).to.contain('no database');
    });
    expect(await cache.get('k', load('good'))).to.equal('good');
  });
});
