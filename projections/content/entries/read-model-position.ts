import { namesOf } from '../../engine/read-model-schemas.ts';
import { contentProjection } from '../projection.ts';

/**
 * SQL of the position of the read model of content, in the snapshot of the statement; null while another version of it
 * is live.
 */
export const READ_MODEL_POSITION = `(select c.position from operational.checkpoints c
  where c.name = '${namesOf(contentProjection).checkpoint}')`;
