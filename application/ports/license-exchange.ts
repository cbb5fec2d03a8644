/** What became of the exchange of an opaque key; `reason` is fit for people and holds neither key nor token. */
export type ExchangeOutcome =
  | { readonly kind: 'token'; readonly token: string }
  /** The license server knows the key and says no. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unreachable'; readonly reason: string };

/** Exchanges a key that starts with `svc_live_` for a signed token (spec 4 A, license). Never throws. */
export type ExchangeLicense = (request: { readonly licenseKey: string; readonly installId: string }) => Promise<ExchangeOutcome>;
