/** Set by the build (`PALIMPSEST_LICENSE_MODULE=false npm run build`); undeclared when run from the sources. */
declare const PALIMPSEST_LICENSE_MODULE: boolean | undefined;

/** Whether this build supports licenses (spec 1, license); one without runs the free tier and has no license routes. */
export const LICENSE_MODULE = typeof PALIMPSEST_LICENSE_MODULE === 'undefined' || PALIMPSEST_LICENSE_MODULE;
