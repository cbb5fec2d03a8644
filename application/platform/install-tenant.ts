/** Tenant in whose streams settings of the whole install are written: the one that every install has (spec 4 A, tenants). */
export const INSTALL_TENANT = 'default';
