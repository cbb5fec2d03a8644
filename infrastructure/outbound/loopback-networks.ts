import type { Settings } from '../configuration/settings/index.ts';

const LOOPBACK = ['127.0.0.0/8', '::1'];

/** The loopback networks that the outbound guard allows outside production; none in production. */
export function loopbackNetworks(appEnv: Settings['appEnv']): readonly string[] {
  return appEnv === 'production' ? [] : LOOPBACK;
}
