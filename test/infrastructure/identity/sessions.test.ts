import { expect } from 'chai';
import { v7 } from 'uuid';
import { createSessions } from '../../../infrastructure/identity/sessions.ts';
import { useDatabase } from '../../support/database.ts';

const now = new Date('2026-05-01T00:00:00.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);

describe('the session store', () => {
  const database = useDatabase();
  const open = async (digest: string) => {
    const sessions = createSessions({ database: database.db() });
    const session = { sessionId: v7(), userId: v7(), tenant: 'default', sessionsRevision: 2 };
    await sessions.open(session, { digest, expiresAt: later(1_000) });
    return { sessions, session };
  };
  const step = (digest: string, at = now) => ({ digest, nextDigest: v7(), nextExpiresAt: later(5_000), now: at });

  it('rotates a token once, and ends the session when the token is used again', async () => {
    const { sessions, session } = await open('once');
    const first = step('once');
    expect(await sessions.rotate(first)).to.deep.equal({ outcome: 'rotated', session });
    expect(await sessions.isOpen(session.sessionId)).to.equal(true);
    expect(await sessions.rotate(step('once'))).to.deep.equal({ outcome: 'reused', session });
    expect(await sessions.isOpen(session.sessionId)).to.equal(false);
    expect(await sessions.rotate(step(first.nextDigest))).to.deep.equal({ outcome: 'refused' });
  });

  it('refuses unknown tokens, expired tokens and tokens of an ended session', async () => {
    const { sessions, session } = await open('expiring');
    expect(await sessions.rotate(step('unknown'))).to.deep.equal({ outcome: 'refused' });
    expect(await sessions.rotate(step('expiring', later(1_000)))).to.deep.equal({ outcome: 'refused' });
    expect([await sessions.end(session.sessionId), await sessions.end(session.sessionId)]).to.deep.equal([true, false]);
    expect(await sessions.rotate(step('expiring'))).to.deep.equal({ outcome: 'refused' });
  });

  it('keeps a session until its last token expires, and sweeps it afterwards', async () => {
    const { sessions, session } = await open('living');
    await sessions.rotate(step('living'));
    await sessions.sweep(later(2_000));
    expect(await sessions.sessionOf('living')).to.deep.equal(session);
    expect(await sessions.sweep(later(5_001))).to.be.at.least(1);
    expect(await sessions.sessionOf('living')).to.equal(undefined);
    expect(await sessions.isOpen(session.sessionId)).to.equal(false);
  });
});
