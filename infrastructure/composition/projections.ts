import { forgetsTenants } from '../../projections/engine/forgets-tenants.ts';
import type { Projection } from '../../projections/engine/projection.ts';
import { automationProjection } from '../../projections/automation/projection.ts';
import { commentsProjection } from '../../projections/content/comments/projection.ts';
import { modellingProjection } from '../../projections/content/modelling/projection.ts';
import { releasesProjection } from '../../projections/content/releases/projection.ts';
import { forgetContentOfTenant } from '../../projections/content/forget-tenant.ts';
import { contentProjection } from '../../projections/content/projection.ts';
import { identityProjection } from '../../projections/identity/projection.ts';
import { forgetWithheldFeatures } from '../../projections/platform/forget-tenant.ts';
import { platformProjection } from '../../projections/platform/projection.ts';

/** Every read model there is. Those that see no events of tenants are told of a deletion here. */
export const projections: readonly Projection[] = [
  forgetsTenants(contentProjection, { forget: forgetContentOfTenant, unaffected: ['entry'] }), forgetsTenants(modellingProjection), forgetsTenants(commentsProjection),
  forgetsTenants(releasesProjection),
  identityProjection, forgetsTenants(automationProjection), forgetsTenants(platformProjection, { forget: forgetWithheldFeatures }),
];
