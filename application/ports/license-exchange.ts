/**
 * The outcome of exchanging an opaque license key. `reason` is a message for people and contains neither key nor token.
 */
export type ExchangeOutcome =
  | { readonly kind: 'token'; readonly token: string }
  /** The license server refused the key. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Exchanges a key that starts with `svc_live_` for a signed token. Never throws. */
export type ExchangeLicense = (request: {
  readonly licenseKey: string;
  readonly installId: string;
}) => Promise<ExchangeOutcome>;
