/**
 * A definition is invalid. `transport` marks errors in `transports`, which answer 422 on every route; the status of the
 * others depends on the route.
 */
export class InvalidDefinition extends Error {
  readonly reason: string;
  readonly kind: 'definition' | 'transport';

  constructor(reason: string, kind: 'definition' | 'transport' = 'definition') {
    super(reason);
    this.name = 'InvalidDefinition';
    this.reason = reason;
    this.kind = kind;
  }
}
