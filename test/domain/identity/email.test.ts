import { expect } from 'chai';
import fc from 'fast-check';
import { normaliseEmail } from '../../../domain/identity/email.ts';

describe('an e-mail address', () => {
  const cases: readonly [given: string, normal: string | undefined][] = [
    ['Ada@Example.COM', 'ada@example.com'],
    ['  ada@example.com\n', 'ada@example.com'],
    ['a.b+c@sub.example.org', 'a.b+c@sub.example.org'],
    ['ada', undefined],
    ['ada@', undefined],
    ['@example.com', undefined],
    ['ada@example', undefined],
    ['ada@@example.com', undefined],
    ['ada love@example.com', undefined],
    ['ada@example..com', undefined],
    ['ada\u0000@example.com', undefined],
    [`${'a'.repeat(65)}@example.com`, undefined],
    [`ada@${'a.'.repeat(150)}com`, undefined],
    ['', undefined],
  ];
  for (const [given, normal] of cases) {
    it(`${JSON.stringify(given.slice(0, 40))} is ${normal === undefined ? 'refused' : `normalised to ${normal}`}`, () => {
      expect(normaliseEmail(given)).to.equal(normal);
    });
  }

  it('does not change when it is normalised twice', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.emailAddress(), fc.string({ unit: 'binary' })), (text) => {
        const once = normaliseEmail(text);
        if (once !== undefined) expect(normaliseEmail(once)).to.equal(once);
      }),
    );
  });
});
