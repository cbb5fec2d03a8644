import { client } from '../../infrastructure/cli/demo/http.ts';
import type { Service } from './http-workloads.ts';
import { median } from './median.ts';
import type { Figure } from './report.ts';

const PASSWORD = 'A-Long-Bench-Password-7';
/** Largest allowed difference of the medians, in percent. Network noise hides a smaller difference. */
const MOST_PERCENT = 5;

export type AddressTimesOptions = {
  readonly service: Service;
  readonly samples: number;
  /** Resets the counters of all rate limits. */
  readonly forgetCounts: () => Promise<void>;
};

/**
 * Compares the response times for an e-mail address with an account and one without, in milliseconds: a sign-in with a
 * wrong password, the same for a locked account, and a request for a password reset. The requests alternate, one at a
 * time. The baseline is the address without an account.
 */
export async function addressTimes({
  service,
  samples,
  forgetCounts,
}: AddressTimesOptions): Promise<readonly Figure[]> {
  const known = 'known@palimpsest.test';
  const unknown = 'unknown@palimpsest.test';
  await client(service.adminUrl, {})('POST', '/api/admin/setup', {
    email: known,
    password: PASSWORD,
    setup_token: service.setupToken,
  });
  const login = (email: string, n: number) =>
    post('/api/admin/auth/login', { email, password: 'A-Wrong-Bench-Password-7' }, n);
  const reset = (email: string, n: number) => post('/api/admin/auth/password-reset/request', { email }, n);

  async function post(path: string, body: object, n: number): Promise<number> {
    const began = performance.now();
    const response = await fetch(`${service.adminUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': `10.0.${n >> 8}.${n & 255}` },
      body: JSON.stringify(body),
    });
    await response.arrayBuffer();
    const took = performance.now() - began;
    if (response.status !== 401 && response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    return took;
  }

  async function compare(
    name: string,
    call: (email: string, n: number) => Promise<number>,
    before: (n: number) => Promise<void>,
  ): Promise<readonly Figure[]> {
    const times: readonly [number[], number[]] = [[], []];
    for (let n = 0; n < samples + 10; n += 1) {
      await before(n);
      // Alternate which address comes first.
      for (const which of n % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
        const took = await call(which === 0 ? known : unknown, n);
        if (n >= 10) times[which].push(took);
      }
    }
    const [one, other] = times.map(median);
    if (one === undefined || other === undefined || Number.isNaN(one))
      throw new Error('no response times were measured');
    return [
      {
        name: `${name}, median of ${samples}, known against unknown address`,
        value: one,
        unit: 'ms',
        baseline: other,
      },
      {
        name: `${name}, difference`,
        value: (Math.abs(one - other) / other) * 100,
        unit: '%',
        target: { most: MOST_PERCENT },
      },
    ];
  }

  return [
    ...(await compare('wrong password', login, (n) => (n % 4 === 0 ? forgetCounts() : Promise.resolve()))),
    ...(await compare('blocked account', login, async (n) => {
      if (n > 0) return;
      for (let failure = 0; failure < 6; failure += 1)
        for (const email of [known, unknown]) await login(email, 10_000 + failure);
    })),
    ...(await compare('reset request', reset, forgetCounts)),
  ];
}
