import { expect } from 'chai';
import fc from 'fast-check';
import type { Admission } from '../../../application/ports/api-key-requests.ts';
import { hasCode } from '../../../domain/errors.ts';
import { type MonthlyBudget, createMonthlyBudget } from '../../../infrastructure/identity/monthly-budget.ts';

const START = Date.parse('2026-11-20T12:00:00.000Z');
const PERIOD = '2026-11';
const key = (monthlyLimit: number) => ({ tenant: 'default', keyId: 'k', monthlyLimit });

/** The count that all processes share, with the number of its queries. */
function sharedCount(total = 0) {
  const shared = { total, asked: 0 };
  const countAhead = (
    { monthlyLimit }: { readonly monthlyLimit: number },
    _period: string,
    others: number,
  ): Promise<number | undefined> => {
    shared.asked += 1;
    if (shared.total + others >= monthlyLimit) return Promise.resolve(undefined);
    shared.total += 1;
    return Promise.resolve(shared.total);
  };
  return { shared, countAhead };
}

async function admitted(budget: MonthlyBudget, limit: number, ms: number): Promise<Admission | undefined> {
  try {
    return await budget.admit(key(limit), new Date(ms));
  } catch (error) {
    if (hasCode(error, 'monthly_limit_exceeded')) return undefined;
    throw error;
  }
}

describe('the monthly limit of a key in several processes', () => {
  it('needs no query for a key without a limit, or far from a known limit', async () => {
    const { shared, countAhead } = sharedCount();
    const budget = createMonthlyBudget({ countAhead });
    expect(budget.admit(key(0), new Date(START))).to.deep.equal({ period: PERIOD, counted: false });
    expect(await budget.admit(key(50_000), new Date(START)), 'the first request of the month').to.deep.equal({
      period: PERIOD,
      counted: true,
    });
    for (let n = 0; n < 500; n += 1)
      expect(budget.admit(key(50_000), new Date(START + n))).to.deep.equal({ period: PERIOD, counted: false });
    expect(shared.asked).to.equal(1);
    expect(
      budget.admit(key(50_000), new Date(START + 1_001)),
      'the known count is older than a second',
    ).to.be.instanceOf(Promise);
    expect(await budget.admit(key(50_000), new Date(Date.parse('2026-12-01T00:00:00.000Z')))).to.deep.equal({
      period: '2026-12',
      counted: true,
    });
  });

  it('queries the shared count once a second for a key that has reached its limit', async () => {
    const { shared, countAhead } = sharedCount(5_000);
    const budget = createMonthlyBudget({ countAhead });
    for (let ms = 0; ms <= 1_000; ms += 10) expect(await admitted(budget, 5_000, START + ms)).to.equal(undefined);
    expect(shared.asked).to.equal(1);
    expect(await admitted(budget, 5_001, START + 1_000), 'a raised limit applies at once').to.include({
      counted: true,
    });
  });

  it('counts each request first within a margin that grows with the usage', async () => {
    const { shared, countAhead } = sharedCount();
    const budget = createMonthlyBudget({ countAhead });
    await budget.admit(key(100_000), new Date(START));
    const askedAt = async (total: number) => {
      budget.setTotal('k', PERIOD, total, new Date(START));
      shared.total = total;
      const before = shared.asked;
      await budget.admit(key(100_000), new Date(START));
      return shared.asked > before;
    };
    expect([await askedAt(1_000), await askedAt(11_000), await askedAt(59_000)]).to.deep.equal([false, false, true]);
    expect([await askedAt(59_100), await askedAt(98_990)]).to.deep.equal([false, true]);
  });

  it('is never exceeded while a second brings fewer requests than the margin, and admits every request below it', async () => {
    const step = fc.record({ process: fc.nat(2), ms: fc.nat(3), refused: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1_500 }),
        fc.array(step, { minLength: 1_600, maxLength: 2_400 }),
        async (limit, steps) => {
          const { shared, countAhead } = sharedCount();
          const processes = [0, 1, 2].map(() => ({ budget: createMonthlyBudget({ countAhead }), waiting: 0 }));
          let [now, flushedAt, passed] = [START, START, 0];
          for (const { process, ms, refused } of steps) {
            now += ms;
            const at = processes[process]!;
            const admission = await admitted(at.budget, limit, now);
            if (admission) {
              // A request that is refused later does not count.
              if (refused && admission.counted) shared.total -= 1;
              else if (refused) at.budget.settle('k', PERIOD, 1);
              else {
                passed += 1;
                if (!admission.counted) at.waiting += 1;
              }
            }
            if (now - flushedAt < 500) continue;
            flushedAt = now;
            for (const one of processes) {
              shared.total += one.waiting;
              one.budget.settle('k', PERIOD, one.waiting);
              one.waiting = 0;
              one.budget.setTotal('k', PERIOD, shared.total, new Date(now));
            }
          }
          expect(passed).to.be.at.most(limit);
          if (steps.every(({ refused }) => !refused)) expect(passed).to.equal(Math.min(limit, steps.length));
        },
      ),
      { numRuns: 30 },
    );
  });
});
