import type { Route } from '../../api/http/route.ts';
import { composeAudit } from './compose-audit.ts';
import { type AutomationModule, composeAutomation } from './compose-automation.ts';
import { type ContentModule, composeContent } from './compose-content.ts';
import { composeDocumentation } from './compose-documentation.ts';
import { composeFanOut } from './compose-fan-out.ts';
import { composeGdpr } from './compose-gdpr.ts';
import { type IdentityModule, composeIdentity } from './compose-identity.ts';
import { composeInstallation } from './compose-installation.ts';
import { composeMail } from './compose-mail.ts';
import { type MonitoringModule, composeMonitoring } from './compose-monitoring.ts';
import { composeSharedState } from './compose-shared-state.ts';
import type { Module } from './module.ts';
import type { Platform } from './platform/platform.ts';

export type Modules = {
  /** In the order of their routes in the OpenAPI document. */
  readonly all: readonly Module[];
  /** The routes that this process serves on both listeners. */
  readonly routes: readonly Route[];
  readonly identity: Pick<IdentityModule, 'http' | 'pendingSetupToken'>;
  readonly content: Pick<ContentModule, 'applyDeclaredTypes'>;
  readonly automation: Pick<AutomationModule, 'addOwnListener'>;
  readonly monitoring: Pick<MonitoringModule, 'started'>;
};

/**
 * Composes every module after the modules that it needs, and registers each with the shutdown. Besides the platform,
 * modules share only what is named here.
 * @throws when the shutdown has begun
 */
export async function composeModules(platform: Platform): Promise<Modules> {
  const closing = <M extends Module>(module: M): M => {
    platform.shutdown.add(() => module.close());
    platform.shutdown.signal.throwIfAborted();
    return module;
  };
  let routes: readonly Route[] = [];
  const servedRoutes = () => routes;

  const audit = closing(await composeAudit(platform));
  const mail = closing(composeMail(platform));
  const identity = closing(
    await composeIdentity(platform, {
      mailer: mail.mailer,
      publicKey: audit.publicKey,
      servedRoutes,
    }),
  );
  const content = closing(
    composeContent(platform, {
      accessRules: identity.accessRules,
      renameInAccess: identity.renameInAccess,
      userById: identity.userById,
    }),
  );
  const fanOut = closing(await composeFanOut(platform, { changeOf: content.changeOf }));
  const automation = closing(
    composeAutomation(platform, { feed: fanOut.feed, changeOf: content.changeOf, hasStatus: content.hasStatus }),
  );
  const gdpr = closing(
    composeGdpr(platform, {
      erasureDependencies: identity.erasureDependencies,
      flushKeyRequests: identity.flushKeyRequests,
    }),
  );
  const installation = closing(composeInstallation(platform, { http: identity.http }));
  const sharedState = closing(
    composeSharedState(platform, { typeById: content.typeById, backfillClaims: content.backfillClaims }),
  );
  const monitoring = closing(
    composeMonitoring(platform, { droppedKeyRequests: identity.droppedKeyRequests, chainFaults: audit.chainFaults }),
  );
  const documentation = closing(
    composeDocumentation(platform, { servedRoutes, queries: content.queries, accessRules: identity.accessRules }),
  );

  const all: readonly Module[] = [
    monitoring,
    documentation,
    audit,
    installation,
    gdpr,
    mail,
    identity,
    content,
    fanOut,
    automation,
    sharedState,
  ];
  routes = platform.roles.has('api')
    ? withoutUnrequested(
        all.flatMap((module) => module.routes),
        platform,
      )
    : monitoring.routes;
  return { all, routes, identity, content, automation, monitoring };
}

/** Declares all routes to the features; leaves out the routes of features that `SVC_PLUGINS` does not list. */
function withoutUnrequested(routes: readonly Route[], { features }: Platform): readonly Route[] {
  features.declare(routes);
  return routes.filter(({ feature }) => feature === undefined || features.isRequested(feature));
}
