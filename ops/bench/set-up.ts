import { client, text } from '../../infrastructure/cli/demo/http.ts';
import type { Service } from './http-workloads.ts';

/** Creates the first account. @returns a client of the Admin API with its session */
export async function setUp(service: Pick<Service, 'adminUrl' | 'setupToken'>): Promise<ReturnType<typeof client>> {
  const session = await client(service.adminUrl, {})('POST', '/api/admin/setup', {
    email: 'bench@palimpsest.localhost',
    password: 'Bench-Password-7-long',
    setup_token: service.setupToken,
  });
  return client(service.adminUrl, { authorization: `Bearer ${text(session, 'token')}` });
}
