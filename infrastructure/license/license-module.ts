/**
 * Defined by the build (`PALIMPSEST_LICENSE_MODULE=false npm run build`); not defined when the service runs from the
 * sources.
 */
declare const PALIMPSEST_LICENSE_MODULE: boolean | undefined;

/** Whether this build supports licenses. A build without them runs the free tier and has no license routes. */
export const LICENSE_MODULE = typeof PALIMPSEST_LICENSE_MODULE === 'undefined' || PALIMPSEST_LICENSE_MODULE;
