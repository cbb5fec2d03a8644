import { expect } from 'chai';
import { createKeyHasher } from '../../../infrastructure/crypto/key-hasher.ts';
import { randomSecrets } from '../../../infrastructure/crypto/random-secrets.ts';

describe('random secrets', () => {
  it('have their format, are unique, and use every character equally often', () => {
    const keys = Array.from({ length: 5_000 }, () => randomSecrets.apiKey());
    expect(new Set(keys)).to.have.length(keys.length);
    const counts = new Map<string, number>();
    for (const key of keys) {
      expect(key).to.match(/^svc_[0-9A-Za-z]{40}$/);
      for (const character of key.slice(4)) counts.set(character, (counts.get(character) ?? 0) + 1);
    }
    const expected = (keys.length * 40) / 62;
    expect(counts).to.have.length(62);
    // Six standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - expected)).to.be.below(6 * Math.sqrt(expected));
    expect(Buffer.from(randomSecrets.refreshToken(), 'base64url')).to.have.length(32);
  });

  it('are hashed with the pepper', () => {
    expect(createKeyHasher({ pepper: 'pepper' })('svc_x'))
      .to.match(/^[0-9a-f]{64}$/)
      .and.to.equal(createKeyHasher({ pepper: 'pepper' })('svc_x'));
    expect(createKeyHasher({ pepper: 'salt' })('svc_x')).to.not.equal(createKeyHasher({ pepper: 'pepper' })('svc_x'));
  });
});
