import { expect } from 'chai';
import type { ClaimChange, ClaimRequest, Claims } from '../../application/ports/claims.ts';
import { withClaims } from '../../application/with-claims.ts';
import { refusal } from '../../domain/errors.ts';
import { rejectionOf } from '../support/rejection.ts';

const value = (name: string): ClaimRequest => ({ tenant: 'default', scope: 's', value: name });
const names = (requests: readonly ClaimRequest[]): string => requests.map((request) => request.value).join('+');

/** A store whose appends take no guards. */
const TWO_STEPS = {
  capabilities: { atomicMultiStream: true, gaplessPositions: true, indexedIds: true, guards: false },
};

/** The port of claims. It records the calls, and reports the value `taken` as held by another stream. */
function recordingClaims() {
  const calls: string[] = [];
  return {
    calls,
    claims: {
      keysOf: (requests: readonly ClaimRequest[]) =>
        requests.map(({ tenant, scope, value: digest }) => ({ tenant, scope, digest })),
      heldByOthers: (_owner: string, requests: readonly ClaimRequest[]) =>
        Promise.resolve(requests.filter((request) => request.value === 'taken')),
      claim: ({ owner, claimed, released = [] }: ClaimChange) => {
        calls.push(`claim ${owner} ${names(claimed)} -${names(released)}`);
        return Promise.resolve(claimed.filter((request) => request.value === 'taken'));
      },
      confirm: ({ owner, confirmed, released }: Parameters<Claims['confirm']>[0]) => {
        calls.push(`confirm ${owner} ${names(confirmed)} -${names(released)}`);
        return Promise.resolve();
      },
      abandon: ({ owner, claimed }: ClaimChange) => {
        calls.push(`abandon ${owner} ${names(claimed)}`);
        return Promise.resolve();
      },
    },
  };
}

describe('an append under claims of unique values', () => {
  it('confirms the claimed values of each owner and releases the others', async () => {
    const { calls, claims } = recordingClaims();
    const result = await withClaims(
      {
        async work({ claim }) {
          await claim({ owner: 'a', claimed: [value('new')], released: [value('old')] });
          await claim({ owner: 'b', claimed: [value('other')] });
          return 'appended';
        },
      },
      { claims, eventStore: TWO_STEPS },
    );
    expect(result).to.equal('appended');
    expect(calls.slice(2)).to.deep.equal(['confirm a new -old', 'confirm b other -']);
  });

  it('confirms what the stream holds after several decisions, and releases what it does not hold', async () => {
    const { calls, claims } = recordingClaims();
    await withClaims(
      {
        async work({ claim }) {
          await claim({ owner: 'a', claimed: [value('first')] });
          await claim({ owner: 'a', claimed: [value('second')] });
        },
        heldAfter: () => [value('second')],
      },
      { claims, eventStore: TWO_STEPS },
    );
    expect(calls.slice(2)).to.deep.equal(['confirm a second -first']);
  });

  it('abandons the claims when nothing was appended', async () => {
    const { calls, claims } = recordingClaims();
    await withClaims(
      { work: ({ claim }) => claim({ owner: 'a', claimed: [value('new')] }), heldAfter: () => undefined },
      { claims, eventStore: TWO_STEPS },
    );
    expect(calls.slice(1)).to.deep.equal(['abandon a new']);
  });

  it('returns the values that other streams hold', async () => {
    const { claims } = recordingClaims();
    const held = await withClaims(
      {
        work: ({ claim }) => claim({ owner: 'a', claimed: [value('free'), value('taken')] }),
        heldAfter: () => undefined,
      },
      { claims, eventStore: TWO_STEPS },
    );
    expect(names(held)).to.equal('taken');
  });

  for (const { after, keepClaimsOnFailure, expected } of [
    { after: 'conflict', keepClaimsOnFailure: false, expected: ['abandon a new'] },
    { after: 'outcome_unknown', keepClaimsOnFailure: false, expected: [] },
    { after: 'conflict', keepClaimsOnFailure: true, expected: [] },
  ] as const)
    it(`${expected.length > 0 ? 'abandons' : 'keeps'} the claims after ${after}${keepClaimsOnFailure ? ' of one of several appends' : ''}`, async () => {
      const { calls, claims } = recordingClaims();
      const failed = await rejectionOf(
        withClaims(
          {
            async work(session) {
              await session.claim({ owner: 'a', claimed: [value('new')], released: [value('old')] });
              if (keepClaimsOnFailure) session.keepClaimsOnFailure();
              throw refusal(after);
            },
          },
          { claims, eventStore: TWO_STEPS },
        ),
      );
      expect(failed).to.include({ code: after });
      expect(calls.slice(1)).to.deep.equal(expected);
    });

  it('settles nothing when no unique value is touched', async () => {
    const { calls, claims } = recordingClaims();
    await withClaims({ work: ({ claim }) => claim({ owner: 'a', claimed: [] }) }, { claims, eventStore: TWO_STEPS });
    expect(calls).to.deep.equal([]);
  });
});
