import { Type } from '@sinclair/typebox';
import type { TriggerEvent } from '../../../domain/automation/trigger.ts';
import type { WebhookEvent } from '../../../domain/automation/webhook-events.ts';
import type { DomainEvent, GlobalPosition } from '../../../domain/event.ts';
import type { AuditEvent } from '../../../domain/platform/audit-events.ts';
import type { ConsoleSettingsEvent } from '../../../domain/platform/console-settings-events.ts';
import type { FeatureConfigurationEvent } from '../../../domain/platform/feature-configuration-events.ts';
import type { WithheldFeaturesEvent } from '../../../domain/platform/withheld-features-events.ts';
import { Id, Texts, Timestamp, nullable } from '../../http/schemas.ts';
import { AnyObject, type EventSchemas, Nothing, SealedValue } from './event-schemas.ts';

const webhook = {
  name: Type.String(),
  url: SealedValue,
  events: Type.Array(Type.Unsafe<TriggerEvent>({ type: 'string' })),
  schemas: Texts,
  enabled: Type.Boolean(),
  headers: nullable(SealedValue),
  include_fields: Texts,
  exclude_fields: Texts,
  max_response_size: Type.Integer(),
};

export const WEBHOOK_EVENTS: EventSchemas<WebhookEvent> = {
  WebhookCreated: Type.Object({ settings: Type.Object(webhook), secret: nullable(SealedValue) }),
  WebhookChanged: Type.Object({ settings: Type.Partial(Type.Object(webhook)) }),
  WebhookSecretRotated: Type.Object({ secret: nullable(SealedValue) }),
  WebhookDeleted: Nothing,
  WebhookDeliveryFailed: Type.Object({
    webhook_id: Id,
    webhook_name: Type.String(),
    dead_letter_id: Id,
    event_type: Type.String(),
    schema: Type.String(),
    total_attempts: Type.Integer(),
    last_status_code: Type.Optional(Type.Integer()),
  }),
};

const Position = Type.Unsafe<GlobalPosition>({ type: 'string', pattern: '^[0-9]{20}$' });

export const AUDIT_EVENTS: EventSchemas<AuditEvent> = {
  AuditSealed: Type.Object({
    tenant: Type.String(),
    from_seq: Type.Integer(),
    to_seq: Type.Integer(),
    from_position: Position,
    to_position: Position,
    head_mac: Type.String(),
    merkle_root: Type.String(),
    jws: Type.String({ description: 'The signed audit seal: a compact JWS' }),
  }),
};

type LicenseEvent = DomainEvent<
  'LicenseRenewed',
  { readonly plan: string; readonly capabilities: readonly string[]; readonly expires_at: string }
>;

export const SETTINGS_EVENTS: EventSchemas<
  ConsoleSettingsEvent | FeatureConfigurationEvent | WithheldFeaturesEvent | LicenseEvent
> = {
  ConsoleSettingsSaved: Type.Object({
    values: Type.Record(
      Type.String(),
      Type.Union([Type.String(), AnyObject, Type.Null()], {
        description: 'Text, a sealed secret, or null when the value was removed',
      }),
    ),
  }),
  FeatureConfigured: Type.Object({ feature: Type.String(), values: AnyObject, secrets: AnyObject, removed: Texts }),
  FeatureConfigurationReset: Type.Object({ feature: Type.String() }),
  FeaturesWithheld: Type.Object({ withheld: Texts }),
  LicenseRenewed: Type.Object({ plan: Type.String(), capabilities: Texts, expires_at: Timestamp }),
};
