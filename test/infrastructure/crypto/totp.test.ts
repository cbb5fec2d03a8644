import { expect } from 'chai';
import { totp } from '../../../infrastructure/crypto/totp.ts';

/** `12345678901234567890`, the secret of the examples in RFC 6238. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';

/** Unix seconds and the last six digits of the code, from appendix B of RFC 6238. */
const EXAMPLES = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const;

describe('time-based one-time passwords', () => {
  for (const [seconds, code] of EXAMPLES) {
    it(`match RFC 6238 at ${seconds} s and are accepted one step earlier and later`, () => {
      const step = Math.floor(seconds / 30);
      const at = (offset: number) => totp.stepOf(SECRET, code, new Date((step + offset) * 30_000 + 7_000));
      expect([at(-1), at(0), at(1)]).to.deep.equal([step, step, step]);
      expect([at(-2), at(2)]).to.deep.equal([undefined, undefined]);
    });
  }

  it('use unique secrets of 160 bits', () => {
    const secrets = Array.from({ length: 50 }, () => totp.newSecret());
    for (const secret of secrets) expect(secret).to.match(/^[A-Z2-7]{32}$/);
    expect(new Set(secrets).size).to.equal(50);
  });
});
