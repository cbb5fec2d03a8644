import { automationProjection } from '../../../projections/automation/projection.ts';
import { commentsProjection } from '../../../projections/content/comments/projection.ts';
import { forgetContentOfTenant } from '../../../projections/content/forget-tenant.ts';
import { modellingProjection } from '../../../projections/content/modelling/projection.ts';
import { contentProjection } from '../../../projections/content/projection.ts';
import { releasesProjection } from '../../../projections/content/releases/projection.ts';
import type { Projection } from '../../../projections/engine/projection.ts';
import { withTenantDeletion } from '../../../projections/engine/with-tenant-deletion.ts';
import { identityProjection } from '../../../projections/identity/projection.ts';
import { deleteWithheldFeatures } from '../../../projections/platform/delete-withheld-features.ts';
import { platformProjection } from '../../../projections/platform/projection.ts';

export const contentProjections: readonly Projection[] = [
  withTenantDeletion(contentProjection, { deleteRows: forgetContentOfTenant, unaffected: ['entry'] }),
  withTenantDeletion(modellingProjection),
  withTenantDeletion(commentsProjection),
  withTenantDeletion(releasesProjection),
];
export const identityProjections: readonly Projection[] = [identityProjection];
export const automationProjections: readonly Projection[] = [withTenantDeletion(automationProjection)];
export const installationProjections: readonly Projection[] = [
  withTenantDeletion(platformProjection, { deleteRows: deleteWithheldFeatures }),
];

/**
 * Every read model of the service, by module. `withTenantDeletion` makes a read model drop the rows of a deleted
 * tenant; identity handles the deletion in its own projector.
 */
export const projections: readonly Projection[] = [
  ...contentProjections,
  ...identityProjections,
  ...automationProjections,
  ...installationProjections,
];
