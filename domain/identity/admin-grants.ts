/** Grants of admin tokens with their descriptions. A route declares the grants that open it (`grants`). */
export const ADMIN_GRANTS = {
  'schemas:read': 'Read content types, presets and the canvas layout; export them',
  'schemas:write': 'Create, rename and delete content types; presets and the canvas layout',
  'content:read': 'Read entries of every status, with revisions, blame and comments',
  'content:write': 'Create, change, publish and delete entries; write comments',
  'webhooks:read': 'Read webhooks and what they delivered; secrets and headers are hidden',
  'webhooks:write': 'Test webhooks, retry deliveries, set retry policies, work through dead letters',
  'media:read': 'Read media files and make addresses of their variants',
  'media:write': 'Upload, change and delete media files',
  'flows:read': 'Read flows and their runs',
  'flows:run': 'Test and run flows',
  'audit:read': 'Read the audit log',
  'users:read': 'Read the members of the tenant',
  'errors:write': 'Report errors and work through them',
} as const;

export type AdminGrant = keyof typeof ADMIN_GRANTS;

/** Every grant, in the order of `ADMIN_GRANTS`. */
export const ADMIN_GRANT_NAMES = Object.keys(ADMIN_GRANTS).filter(isAdminGrant);

export function isAdminGrant(name: string): name is AdminGrant {
  return Object.hasOwn(ADMIN_GRANTS, name);
}
