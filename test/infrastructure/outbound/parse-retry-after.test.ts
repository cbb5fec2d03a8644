import { expect } from 'chai';
import { parseRetryAfter } from '../../../infrastructure/outbound/parse-retry-after.ts';

describe('the Retry-After header', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');

  it('is parsed as seconds or a date, and ignored when it is neither', () => {
    expect(parseRetryAfter('120', now)).to.equal(120_000);
    expect(parseRetryAfter('Fri, 20 Nov 2026 12:02:00 GMT', now)).to.equal(120_000);
    expect(parseRetryAfter('Fri, 20 Nov 2026 11:00:00 GMT', now)).to.equal(0);
    for (const text of [
      undefined,
      '',
      '-1',
      '1.5',
      'soon',
      '2026-11-20T12:02:00Z',
      '9'.repeat(12),
      'Fri, 99 Nov 2026 12:02:00 GMT',
    ])
      expect(parseRetryAfter(text, now), text).to.equal(undefined);
  });
});
