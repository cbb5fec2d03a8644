import { readFileSync } from 'node:fs';
import type { HttpOptions } from '../../api/http/http-dependencies.ts';
import type { Settings } from '../configuration/settings/index.ts';

/** What the HTTP layer is set to. */
export function httpOptionsOf(settings: Settings): HttpOptions {
  return {
    maxJsonBodyBytes: settings.maxJsonBodyBytes,
    maxBodyBytes: settings.maxBodyBytes,
    trustedProxies: settings.trustedProxies,
    consoleKeys: [settings.adminConsoleKey, settings.adminConsoleKeyPrevious].filter((key) => key !== undefined),
    secure: settings.secureCookie,
    doors: { allowedHosts: settings.allowedHosts, ipAllowlist: settings.ipAllowlist },
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

/** The PEM pair of both listeners; undefined: plain http. @throws when a file can't be read */
export function tlsOf({ tlsCertFile, tlsKeyFile }: Pick<Settings, 'tlsCertFile' | 'tlsKeyFile'>): { cert: string; key: string } | undefined {
  return tlsCertFile !== undefined && tlsKeyFile !== undefined ? { cert: readFileSync(tlsCertFile, 'utf8'), key: readFileSync(tlsKeyFile, 'utf8') } : undefined;
}
