import type { RecordedEvent } from '../event.ts';
import { DEFAULT_TENANT } from '../identity/memberships.ts';
import type { UserEvent } from '../identity/user-events.ts';
import { ownValue } from '../own-value.ts';
import { type Category, parseStream } from '../stream.ts';

/** Who may see an event in the audit log. */
export type AuditReader = {
  readonly tenant: string;
  /**
   * Whether the reader is a super admin. In the default tenant a super admin also sees the events of the installation.
   */
  readonly superAdmin: boolean;
};

/** Categories whose streams belong to the installation. Their streams are named as streams of the default tenant. */
export const INSTALLATION_CATEGORIES: ReadonlySet<string> = new Set<Category>(['user', 'tenant']);

/** Ids of the settings streams of the default tenant that hold settings of the installation. */
const INSTALLATION_SETTINGS = /^(?:license|console|feature\..+)$/;

/** Events of a user that name the one tenant they concern, with the field that names it. */
const TENANT_FIELDS: ReadonlyMap<string, string> = new Map<UserEvent['type'], string>([
  ['UserCreated', 'member_of'],
  ['UserMembershipGranted', 'tenant'],
  ['UserMembershipRemoved', 'tenant'],
  ['UserSignedIn', 'tenant'],
]);

/** Types of events in streams of the installation that concern one tenant. */
export const INSTALLATION_TYPES_OF_A_TENANT: readonly string[] = [
  ...TENANT_FIELDS.keys(),
  'TenantCreated',
  'TenantChanged',
  'TenantDeleted',
];

/** Whether the reader may see the event. */
export function isVisibleTo(event: RecordedEvent, { tenant, superAdmin }: AuditReader): boolean {
  if (!isOfInstallation(event)) return event.metadata.tenant === tenant;
  return (superAdmin && tenant === DEFAULT_TENANT) || tenantOfInstallationEvent(event) === tenant;
}

function isOfInstallation({ stream }: RecordedEvent): boolean {
  const parts = parseStream(stream);
  if (parts === undefined) return false;
  const { category, tenant, id } = parts;
  return (
    INSTALLATION_CATEGORIES.has(category) ||
    (category === 'settings' && tenant === DEFAULT_TENANT && INSTALLATION_SETTINGS.test(id))
  );
}

/** The tenant that an event of the installation concerns; undefined when it concerns the installation. */
function tenantOfInstallationEvent({ type, stream, data }: RecordedEvent): string | undefined {
  const parts = parseStream(stream);
  if (parts?.category === 'tenant') return parts.id;
  const field = parts?.category === 'user' ? TENANT_FIELDS.get(type) : undefined;
  const tenant = field === undefined ? undefined : ownValue(data, field);
  return typeof tenant === 'string' ? tenant : undefined;
}
