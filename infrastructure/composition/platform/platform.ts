import type { FeatureSettings } from '../../../application/platform/feature-settings.ts';
import type { Features } from '../../../application/platform/features.ts';
import type { Configuration } from '../../../application/ports/configuration.ts';
import type { Entitlements } from '../../../application/ports/entitlements.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import type { ProjectionProgress } from '../../../application/ports/projection-progress.ts';
import type { Vault } from '../../../application/ports/vault.ts';
import type { ProtectionLimits } from '../../../domain/traffic/protections.ts';
import type { ProjectionEngine } from '../../../projections/engine/engine.ts';
import type { ProcessRole } from '../../configuration/settings/core.ts';
import type { Settings } from '../../configuration/settings/index.ts';
import type { Shutdown } from '../create-shutdown.ts';
import type { Every } from './at-intervals.ts';
import type { Observability } from './create-observability.ts';
import type { SharedState } from './create-shared-state.ts';
import type { OpenLicense } from './open-license.ts';
import type { OpenReplica } from './open-replica.ts';
import type { OpenStores } from './open-stores.ts';

/** What every module builds on. A process opens one platform before it composes the modules. */
export type Platform = Omit<OpenStores, 'close'> &
  Observability &
  SharedState & {
    /** The settings in force: environment, file, console, default. */
    readonly settings: Settings;
    /** Lists every setting with its source, and checks what the console wants to save. */
    readonly configuration: Configuration;
    /** `SVC_ROLES`. */
    readonly roles: ReadonlySet<ProcessRole>;
    readonly logger: Logger;
    /** Runs the projectors in a process with the role `projector`. */
    readonly engine: ProjectionEngine;
    /** How far each read model is; works in every process. */
    readonly progress: ProjectionProgress;
    /** Undefined without `DATABASE_REPLICA_URL`. */
    readonly replica: OpenReplica | undefined;
    readonly vault: Vault;
    readonly license: OpenLicense;
    /** What the license grants now. */
    readonly entitlements: Entitlements;
    readonly features: Features;
    readonly featureSettings: FeatureSettings;
    /** Limits of the sign-in protections; undefined: the built-in limits. */
    readonly protections: ProtectionLimits | undefined;
    /** Reports an error that only a restart of the process repairs. */
    readonly onFatal: (error: Error) => void;
    readonly every: Every;
    readonly now: () => Date;
    /** A new UUID v7. */
    readonly newId: () => string;
    readonly shutdown: Shutdown;
  };
