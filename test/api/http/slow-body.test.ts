import { Type } from '@sinclair/typebox';
import { expect } from 'chai';
import { request as httpRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { route } from '../../../api/http/route.ts';
import { refusal } from '../../../domain/errors.ts';
import type { Principal } from '../../../domain/identity/principal.ts';
import { gate } from '../../support/gate.ts';
import { useServed } from '../../support/serve-routes.ts';

const ADMIN: Principal = {
  kind: 'session',
  userId: 'u1',
  sessionId: 's1',
  tenant: 'default',
  roles: ['admin'],
  via: 'bearer',
  csrfToken: 'csrf-1',
};
const BODY = JSON.stringify({ name: 'a' });

describe('a write whose body arrives slowly', () => {
  let valid = true;
  let allowed = true;
  let spent = 0;
  let handled = 0;
  let prechecks = 0;
  let onPrecheck: () => void = () => undefined;

  const put = route({
    api: 'admin',
    tag: 'test',
    summary: 'Write a thing',
    method: 'PUT',
    path: '/api/admin/slow/{id}',
    operation: 'slow',
    access: { kind: 'session' },
    params: Type.Object({ id: Type.String() }),
    body: Type.Object({ name: Type.String() }),
    responses: { 200: null },
    consume: () => {
      spent += 1;
      return Promise.resolve();
    },
    precheck: () => {
      prechecks += 1;
      onPrecheck();
      if (!allowed) throw refusal('permission_denied');
    },
    handler: () => {
      handled += 1;
      return Promise.resolve({ status: 200, body: {} });
    },
  });
  const served = useServed([put], {}, { authenticate: () => (valid ? ADMIN : undefined) });

  beforeEach(() => {
    valid = true;
    allowed = true;
    spent = handled = prechecks = 0;
  });

  /** Sends the head of the request, waits for the precheck, runs `meanwhile`, then sends the body. */
  async function sendInTwoParts(meanwhile: () => void): Promise<number> {
    const checked = gate();
    onPrecheck = checked.open;
    const sent = httpRequest(new URL('/api/admin/slow/1', served().admin.url), {
      method: 'PUT',
      headers: {
        authorization: 'Bearer admin',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(BODY),
      },
    });
    const status = new Promise<number>((resolve, reject) => {
      sent.on('error', reject);
      sent.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
    });
    sent.write(BODY.slice(0, 1));
    await checked.opened;
    meanwhile();
    // The time that the body takes is what is tested, so it cannot be waited for by a signal.
    await pause(30);
    sent.end(BODY.slice(1));
    return status;
  }

  it('is refused when its access was withdrawn in the meantime', async () => {
    const status = await sendInTwoParts(() => {
      allowed = false;
    });
    expect(status).to.equal(403);
    expect(handled).to.equal(0);
  });

  it('is checked again and still counts once against its limit', async () => {
    const status = await sendInTwoParts(() => undefined);
    expect(status).to.equal(200);
    expect({ spent, prechecks, handled }).to.deep.equal({ spent: 1, prechecks: 2, handled: 1 });
  });

  it('is refused when its credential was revoked in the meantime', async () => {
    const status = await sendInTwoParts(() => {
      valid = false;
    });
    expect(status).to.equal(401);
    expect(handled).to.equal(0);
  });
});
