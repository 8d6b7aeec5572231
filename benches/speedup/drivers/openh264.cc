// Encodes a window that moves over a picture with OpenH264, and decodes what comes out.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include "codec_api.h"
#include "picture.h"

static const int WIDTH = 176, HEIGHT = 144, SIDE = 320;

int main(int argc, char **argv)
{
    int frames = atoi(argv[1]), seed = atoi(argv[2]);
    unsigned char *picture = picture_make(SIDE, seed);
    ISVCEncoder *encoder;
    ISVCDecoder *decoder;
    if (WelsCreateSVCEncoder(&encoder) || WelsCreateDecoder(&decoder))
        return 1;
    SEncParamExt wanted;
    encoder->GetDefaultParams(&wanted);
    wanted.iUsageType = CAMERA_VIDEO_REAL_TIME;
    wanted.iPicWidth = WIDTH;
    wanted.iPicHeight = HEIGHT;
    wanted.fMaxFrameRate = 25;
    wanted.iTargetBitrate = wanted.iMaxBitrate = 300000;
    wanted.iRCMode = RC_QUALITY_MODE;
    wanted.bEnableFrameSkip = false;
    wanted.iMultipleThreadIdc = 1;
    wanted.iEntropyCodingModeFlag = seed % 2;
    wanted.sSpatialLayers[0].iVideoWidth = WIDTH;
    wanted.sSpatialLayers[0].iVideoHeight = HEIGHT;
    wanted.sSpatialLayers[0].fFrameRate = 25;
    wanted.sSpatialLayers[0].iSpatialBitrate = wanted.sSpatialLayers[0].iMaxSpatialBitrate = 300000;
    int level = WELS_LOG_QUIET;
    encoder->SetOption(ENCODER_OPTION_TRACE_LEVEL, &level);
    decoder->SetOption(DECODER_OPTION_TRACE_LEVEL, &level);
    SDecodingParam how;
    memset(&how, 0, sizeof how);
    how.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
    if (encoder->InitializeExt(&wanted) || decoder->Initialize(&how))
        return 2;
    std::vector<unsigned char> planes(WIDTH * HEIGHT * 3 / 2), stream;
    unsigned checksum = 0;
    for (int n = 0; n < frames; n++) {
        int left = (n * 3 / 2 + n * n / 40) % (SIDE - WIDTH), top = (n * 5 / 4) % (SIDE - HEIGHT);
        unsigned char *out = planes.data();
        for (int channel = 0; channel < 3; channel++)
            for (int y = 0, step = channel ? 2 : 1; y < HEIGHT; y += step)
                for (int x = 0; x < WIDTH; x += step)
                    *out++ = picture[((top + y) * SIDE + left + x) * 3 + channel];
        SSourcePicture source;
        memset(&source, 0, sizeof source);
        source.iPicWidth = WIDTH;
        source.iPicHeight = HEIGHT;
        source.iColorFormat = videoFormatI420;
        source.iStride[0] = WIDTH;
        source.iStride[1] = source.iStride[2] = WIDTH / 2;
        source.pData[0] = planes.data();
        source.pData[1] = source.pData[0] + WIDTH * HEIGHT;
        source.pData[2] = source.pData[1] + WIDTH * HEIGHT / 4;
        source.uiTimeStamp = n * 40;
        SFrameBSInfo coded;
        memset(&coded, 0, sizeof coded);
        if (encoder->EncodeFrame(&source, &coded))
            return 3;
        stream.clear();
        for (int layer = 0; layer < coded.iLayerNum; layer++) {
            int size = 0;
            for (int unit = 0; unit < coded.sLayerInfo[layer].iNalCount; unit++)
                size += coded.sLayerInfo[layer].pNalLengthInByte[unit];
            stream.insert(stream.end(), coded.sLayerInfo[layer].pBsBuf, coded.sLayerInfo[layer].pBsBuf + size);
        }
        unsigned char *decoded[3] = { 0 };
        SBufferInfo info;
        memset(&info, 0, sizeof info);
        if (decoder->DecodeFrameNoDelay(stream.data(), (int)stream.size(), decoded, &info))
            return 4;
        if (info.iBufferStatus == 1)
            for (int y = 0; y < HEIGHT; y++)
                for (int x = 0; x < WIDTH; x++)
                    checksum = checksum * 31 + decoded[0][y * info.UsrData.sSystemBuffer.iStride[0] + x];
        checksum += stream.size();
    }
    printf("%u\n", checksum);
}
