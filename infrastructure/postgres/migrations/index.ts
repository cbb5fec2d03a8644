import { eventStoreTables } from './0100-event-store-tables.ts';
import { eventStoreAppend } from './0101-event-store-append.ts';
import { eventStoreStreams } from './0102-event-store-streams.ts';
import { leasesAndCheckpoints } from './0200-leases-and-checkpoints.ts';
import { claims } from './0201-claims.ts';
import { idempotencyKeys } from './0202-idempotency-keys.ts';
import { claimsFencing } from './0203-claims-fencing.ts';
import { claimsInstance } from './0204-claims-instance.ts';
import { rateCounters } from './0205-rate-counters.ts';
import { idempotencyRequests } from './0206-idempotency-requests.ts';
import { guardedAppend } from './0210-guarded-append.ts';
import { parkedStreams } from './0220-parked-streams.ts';
import { firstBuilds } from './0221-first-builds.ts';
import { eventsOfActors } from './0230-events-of-actors.ts';
import { personKeys } from './0300-person-keys.ts';
import { sessions } from './0310-sessions.ts';
import { apiKeyRequests } from './0320-api-key-requests.ts';
import { apiKeyUsage } from './0321-api-key-usage.ts';
import { signInState } from './0330-sign-in-state.ts';
import { mailQueue } from './0340-mail-queue.ts';
import { magicLinks } from './0341-magic-links.ts';
import { deviceSignIns } from './0342-device-sign-ins.ts';
import { pastEntries } from './0350-past-entries.ts';
import { pastSetsOfTenants } from './0351-past-sets-of-tenants.ts';
import { responseSize } from './0360-response-size.ts';
import { webhookDeliveries } from './0400-webhook-deliveries.ts';
import { webhookRetention } from './0401-webhook-retention.ts';
import { webhookTraceparent } from './0402-webhook-traceparent.ts';
import { deadEvents } from './0500-dead-events.ts';
import { auditChain } from './0600-audit-chain.ts';
import { auditState } from './0601-audit-state.ts';
import { license } from './0650-license.ts';
import { plainComments } from './0700-plain-comments.ts';
import type { Migration } from './migration.ts';

/** All migrations, one file each in this directory. */
export const migrations: readonly Migration[] = [
  eventStoreTables,
  eventStoreAppend,
  eventStoreStreams,
  leasesAndCheckpoints,
  claims,
  idempotencyKeys,
  claimsFencing,
  claimsInstance,
  rateCounters,
  idempotencyRequests,
  guardedAppend,
  parkedStreams,
  firstBuilds,
  eventsOfActors,
  personKeys,
  sessions,
  apiKeyRequests,
  apiKeyUsage,
  signInState,
  mailQueue,
  magicLinks,
  deviceSignIns,
  pastEntries,
  pastSetsOfTenants,
  responseSize,
  webhookDeliveries,
  webhookRetention,
  webhookTraceparent,
  deadEvents,
  auditChain,
  auditState,
  license,
  plainComments,
];
