import { readFileSync } from 'node:fs';
import type { HttpOptions } from '../../api/http/http-dependencies.ts';
import type { Settings } from '../configuration/settings/index.ts';

/** The settings of the HTTP layer. */
export function httpOptionsOf(settings: Settings): HttpOptions {
  return {
    maxJsonBodyBytes: settings.maxJsonBodyBytes,
    maxBodyBytes: settings.maxBodyBytes,
    trustedProxies: settings.trustedProxies,
    consoleKeys: [settings.adminConsoleKey, settings.adminConsoleKeyPrevious].filter((key) => key !== undefined),
    secure: settings.secureCookie,
    hostAndIpFilter: { allowedHosts: settings.allowedHosts, ipAllowlist: settings.ipAllowlist },
    cors: {
      origins: settings.corsOrigins,
      allowedDomains: settings.corsAllowedDomains,
      allowMethods: settings.corsAllowMethods,
      allowHeaders: settings.corsAllowHeaders,
      exposeHeaders: settings.corsExposeHeaders,
      maxAge: settings.corsMaxAge,
    },
  };
}

/**
 * The PEM certificate and key of both listeners; undefined: they serve plain HTTP.
 * @throws when a file cannot be read
 */
export function tlsOf({
  tlsCertFile,
  tlsKeyFile,
}: Pick<Settings, 'tlsCertFile' | 'tlsKeyFile'>): { cert: string; key: string } | undefined {
  return tlsCertFile !== undefined && tlsKeyFile !== undefined
    ? { cert: readFileSync(tlsCertFile, 'utf8'), key: readFileSync(tlsKeyFile, 'utf8') }
    : undefined;
}
