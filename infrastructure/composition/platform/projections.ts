import { automationProjection } from '../../../projections/automation/projection.ts';
import { commentsProjection } from '../../../projections/content/comments/projection.ts';
import { deleteContentOfTenant } from '../../../projections/content/delete-content-of-tenant.ts';
import { modellingProjection } from '../../../projections/content/modelling/projection.ts';
import { contentProjection } from '../../../projections/content/projection.ts';
import { releasesProjection } from '../../../projections/content/releases/projection.ts';
import type { Projection } from '../../../projections/engine/projection.ts';
import { withTenantDeletion } from '../../../projections/engine/with-tenant-deletion.ts';
import { identityProjection } from '../../../projections/identity/projection.ts';
import { deleteWithheldFeatures } from '../../../projections/platform/delete-withheld-features.ts';
import { platformProjection } from '../../../projections/platform/projection.ts';

/**
 * Every read model of the service. `withTenantDeletion` makes a read model drop the rows of a deleted tenant; identity
 * handles the deletion in its own projector. The engine opens before the modules, so they do not bring read models.
 */
export const projections: readonly Projection[] = [
  withTenantDeletion(contentProjection, { deleteRows: deleteContentOfTenant, unaffected: ['entry'] }),
  withTenantDeletion(modellingProjection),
  withTenantDeletion(commentsProjection),
  withTenantDeletion(releasesProjection),
  identityProjection,
  withTenantDeletion(automationProjection),
  withTenantDeletion(platformProjection, { deleteRows: deleteWithheldFeatures }),
];
