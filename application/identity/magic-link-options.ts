/** The `MAGIC_LINK_*` settings in force. */
export type MagicLinkOptions = {
  /** Lifetime of a link: 30 to 3600 seconds. */
  readonly ttlSeconds: number;
  /** Whether redeeming a link creates an account for an unknown address. */
  readonly autoCreate: boolean;
  /** Roles of created accounts; never `admin` or `super_admin`. */
  readonly autoCreateRoles: readonly string[];
  readonly allowedHosts: readonly string[];
  readonly requireResolvedTenant: boolean;
};
