export { quoteIdentifier } from '../../domain/identifier.ts';
