import type { Projection } from '../../projections/engine/projection.ts';
import { automationProjection } from '../../projections/automation/projection.ts';
import { modellingProjection } from '../../projections/content/modelling/projection.ts';
import { contentProjection } from '../../projections/content/projection.ts';
import { identityProjection } from '../../projections/identity/projection.ts';

/** Every read model there is. */
export const projections: readonly Projection[] = [contentProjection, modellingProjection, identityProjection, automationProjection];
