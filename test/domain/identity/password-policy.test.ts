import { expect } from 'chai';
import { passwordProblems } from '../../../domain/identity/password-policy.ts';

const policy = { minLength: 12, requireComplexity: true, maxBytes: 72 };

describe('the password policy', () => {
  const cases: readonly [password: string, problems: readonly string[]][] = [
    ['Correct-Horse-7', []],
    ['Ünïcode-Päss-1', []],
    ['Short-1', ['must have at least 12 characters']],
    ['alllower-case-1', ['must contain an upper-case letter']],
    ['ALLUPPER-CASE-1', ['must contain a lower-case letter']],
    ['No-Digits-At-All', ['must contain a digit']],
    [`Aa1${'x'.repeat(70)}`, ['must have at most 72 bytes']],
    [`Aa1${'é'.repeat(40)}`, ['must have at most 72 bytes']],
    [`Aa1${'x'.repeat(126)}`, ['must have at most 128 characters', 'must have at most 72 bytes']],
    ['Correct-\u0000Horse-7', ['must not contain a zero character']],
    [
      '',
      [
        'must have at least 12 characters',
        'must contain an upper-case letter',
        'must contain a lower-case letter',
        'must contain a digit',
      ],
    ],
  ];
  for (const [password, problems] of cases) {
    it(`${problems.length === 0 ? 'accepts' : 'refuses'} ${JSON.stringify(password)}${problems.map((problem) => `, which ${problem}`).join('')}`, () => {
      expect(passwordProblems(password, policy)).to.deep.equal(
        problems.map((message) => ({ field: 'password', message })),
      );
    });
  }

  it('counts characters, not UTF-16 units', () => {
    expect(passwordProblems('🐎🐎🐎🐎🐎🐎', { minLength: 12, requireComplexity: false })).to.have.length(1);
  });

  it('checks complexity, bytes and common passwords only when these checks are enabled', () => {
    expect(passwordProblems('x'.repeat(100), { minLength: 12, requireComplexity: false })).to.be.empty;
    expect(passwordProblems('Password-1234', { ...policy, isCommon: () => true })).to.deep.equal([
      { field: 'password', message: 'is a common password' },
    ]);
  });
});
