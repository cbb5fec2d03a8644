import type { Claims } from '../ports/claims.ts';
import type { IdentityReads } from '../ports/identity-reads.ts';
import type { IdentityWriteDependencies } from './identity-write-dependencies.ts';
import type { TenantDirectory } from './tenant-directory.ts';

/** Changes tenants, and waits until the directory of this process shows the change. */
export type TenantDependencies = IdentityWriteDependencies & {
  /** Claims the tenants' domains. */
  readonly claims: Claims;
  readonly tenants: Pick<TenantDirectory, 'waitFor'>;
};

/** Changes access rules, and waits until the directory of this process applies the change. */
export type AccessRuleDependencies = IdentityWriteDependencies & {
  readonly tenants: Pick<TenantDirectory, 'waitFor'>;
};

/** Changes memberships. */
export type MembershipDependencies = IdentityWriteDependencies & {
  readonly reads: IdentityReads;
  readonly tenants: Pick<TenantDirectory, 'state'>;
};
